// The bundle's entry: workflow functions and nothing else.
export { conversationWorkflow } from './conversation/workflow.js';
export { toolRunWorkflow } from './tool-run/workflow.js';

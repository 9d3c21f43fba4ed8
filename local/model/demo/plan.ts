// Planning: which tool, with which arguments, or what to ask first.
import type { Conversation } from '../conversation.js';
import type { ModelRequest, Reply } from '../wire.js';
import type { CatalogueEntry } from './choose-tool.js';
import { converse } from './converse.js';
import { fillArguments, type Filled } from './fill-arguments.js';
import { findRequest, lastCustomerTurn, type FoundRequest } from './find-request.js';
import { askingInput, sortTools, type ToolSet } from './meta-tools.js';
import { parametersOf } from './parameters.js';
import { questionFor } from './question.js';

const NO_TOOL_REASON = 'Nothing in the message asks for one of the tools.';

/** Answers a request that offers tools. */
export function plan(request: ModelRequest, conversation: Conversation): Reply {
  const tools = sortTools(request.tools ?? []);
  const catalogue = tools.real.map((tool) => ({ tool, parameters: parametersOf(tool) }));
  const forced = forcedRequest(request, { tools, catalogue, conversation });
  const found =
    forced ?? findRequest(catalogue, conversation) ?? lastResort(request, { tools, catalogue, conversation });
  if (!found) return declined(tools, conversation);
  const { turns, now } = conversation;
  const filled = fillArguments(found.entry.parameters, { turns, messages: found.messages, now });
  const mustCall = forced !== undefined || (request.tool_choice?.type === 'any' && !tools.asking);
  return filled.missing.length === 0 || mustCall
    ? call(found.entry.tool.name, filled.values)
    : ask(tools, found, filled);
}

function call(name: string, input: unknown): Reply {
  return { content: [{ type: 'tool_use', name, input }], stopReason: 'tool_use' };
}

function ask(tools: ToolSet, { entry }: FoundRequest, { missing, values }: Filled): Reply {
  const question = questionFor(missing);
  if (!tools.asking) return { content: [{ type: 'text', text: question }], stopReason: 'end_turn' };
  const names = missing.map((parameter) => parameter.name);
  const input = askingInput(tools.asking, { question, missing: names, tool: entry.tool.name, found: values });
  return call(tools.asking.name, input);
}

function declined(tools: ToolSet, conversation: Conversation): Reply {
  if (tools.declining) return call(tools.declining.name, { reason: NO_TOOL_REASON });
  return { content: [{ type: 'text', text: converse(conversation) }], stopReason: 'end_turn' };
}

interface Offer {
  tools: ToolSet;
  catalogue: CatalogueEntry[];
  conversation: Conversation;
}

/** `tool_choice` names a tool. */
function forcedRequest(request: ModelRequest, { catalogue, conversation }: Offer): FoundRequest | undefined {
  const choice = request.tool_choice;
  if (choice?.type !== 'tool') return undefined;
  const entry = catalogue.find(({ tool }) => tool.name === choice.name);
  return entry && { entry, messages: [lastCustomerTurn(conversation.turns)] };
}

/** `tool_choice` demands a call, and there is no tool to decline with. */
function lastResort(
  request: ModelRequest,
  { tools, catalogue, conversation }: Offer,
): FoundRequest | undefined {
  const entry = catalogue[0];
  if (request.tool_choice?.type !== 'any' || tools.declining || !entry) return undefined;
  return { entry, messages: [lastCustomerTurn(conversation.turns)] };
}

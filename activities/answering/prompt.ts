// The whole prompt of normal chat. Golden prompts in the tests hold it still: a change of it is a reviewed diff.
import type Anthropic from '@anthropic-ai/sdk';
import type { TenantConfiguration } from '../../config/configuration.js';
import { toModelMessages, type ConversationInput } from '../claude/conversation.js';
import { nowForModels } from '../clock.js';

export interface AnswerPrompt {
  system: string;
  messages: Anthropic.MessageParam[];
  isTainted: boolean;
}

export function answerPrompt(input: {
  configuration: TenantConfiguration;
  conversation: Omit<ConversationInput, 'historyTokens'>;
  now?: Date;
}): AnswerPrompt {
  const { assistant, business, limits } = input.configuration;
  const { messages, isTainted } = toModelMessages({
    ...input.conversation,
    historyTokens: limits.historyTokens,
  });
  return {
    system: `${assistant.brief.trim()}\nNow: ${nowForModels(business, input.now)}`,
    messages,
    isTainted,
  };
}

// The one door to a model. Who answers behind the address, the product never knows.
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelUse } from '../../config/configuration.js';
import { modelFailure } from './model-failure.js';

export interface ModelRequest {
  use: ModelUse;
  system: string;
  messages: Anthropic.MessageParam[];
  /** Absent: normal chat, which holds no tool definition at all. */
  tools?: Anthropic.Tool[];
  toolChoice?: Anthropic.ToolChoice;
}

export interface ModelReply {
  text: string;
  toolUses: { id: string; name: string; input: unknown }[];
  stopReason: string;
  inputTokens: number;
  outputTokens: number;
}

export interface Model {
  /** Who answers in the end, for the records: the model's name, or the label of what stands in for it. */
  nameOf(use: ModelUse): string;
  /** Asks once. Throws an `ApplicationFailure` of a documented type; Temporal retries. */
  ask(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}

/** `client` must have `maxRetries: 0`: two retry loops around each other multiply. */
export function createModel(client: Anthropic, { label }: { label?: string | undefined } = {}): Model {
  return {
    nameOf: (use) => label?.replaceAll(/\s+/g, '-') ?? use.name,

    async ask(request, signal) {
      try {
        const message = await client.messages.create(
          {
            model: request.use.name,
            max_tokens: request.use.maxTokens,
            system: request.system,
            messages: request.messages,
            ...(request.tools && { tools: request.tools }),
            ...(request.toolChoice && { tool_choice: request.toolChoice }),
          },
          { signal },
        );
        return read(message);
      } catch (error) {
        throw modelFailure(error);
      }
    },
  };
}

function read(message: Anthropic.Message): ModelReply {
  return {
    text: message.content
      .flatMap((block) => (block.type === 'text' ? [block.text] : []))
      .join('\n')
      .trim(),
    toolUses: message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stopReason: message.stop_reason ?? 'unknown',
    inputTokens: message.usage.input_tokens,
    outputTokens: message.usage.output_tokens,
  };
}

// A finished message as the server-sent events a client would have received while it was written.
import type { WireMessage } from './wire.js';

/** Small pieces, so that a client which only works when everything comes in one piece is found out. */
const PIECE_CHARACTERS = 16;

interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** Each string is one complete server-sent event, from `message_start` to `message_stop`. */
export function toEvents(message: WireMessage): string[] {
  const { usage } = message;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_details: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const events: StreamEvent[] = [
    { type: 'message_start', message: start },
    { type: 'ping' },
    ...message.content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: {
        stop_reason: message.stop_reason,
        stop_details: message.stop_details,
        stop_sequence: message.stop_sequence,
        container: null,
      },
      usage: { ...usage },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function blockEvents(block: WireMessage['content'][number], index: number): StreamEvent[] {
  return [
    { type: 'content_block_start', index, content_block: emptied(block) },
    ...deltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function emptied(block: WireMessage['content'][number]): unknown {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'tool_use') return { ...block, input: {} };
  return block;
}

function deltas(block: WireMessage['content'][number]): unknown[] {
  if (block.type === 'text') return pieces(block.text).map((text) => ({ type: 'text_delta', text }));
  if (block.type !== 'tool_use') return [];
  return pieces(JSON.stringify(block.input)).map((json) => ({
    type: 'input_json_delta',
    partial_json: json,
  }));
}

function pieces(text: string): string[] {
  // Split by code points: half a surrogate pair is not valid text.
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / PIECE_CHARACTERS);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * PIECE_CHARACTERS, (index + 1) * PIECE_CHARACTERS).join(''),
  );
}

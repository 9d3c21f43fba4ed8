// The demo model: what it makes of a request. Everything it knows is in the request; it keeps nothing.
import { readConversation } from '../conversation.js';
import type { ModelRequest, Reply } from '../wire.js';
import { converse } from './converse.js';
import { plan } from './plan.js';
import { renderResults } from './render-result.js';

/** Summarises results when the last message brings them, plans when tools are offered, else talks. */
export function answer(request: ModelRequest): Reply {
  const conversation = readConversation(request);
  const offersTools = (request.tools ?? []).length > 0 && request.tool_choice?.type !== 'none';
  // Beside tools a labelled result is what was found out earlier, not what is to be told now.
  const results =
    conversation.results.length > 0 || offersTools ? conversation.results : conversation.labelledResults;
  if (results.length > 0) return say(renderResults(results, conversation.now));
  return offersTools ? plan(request, conversation) : say(converse(conversation));
}

function say(text: string): Reply {
  return { content: [{ type: 'text', text }], stopReason: 'end_turn' };
}

// Fetches what a customer sent from where the platform keeps it, checks size and hash, and keeps it under their key. The
// platform forgets its copy after some days; ours stays as long as the message does.
import { failMedia, mediaOfMessage, storeMedia, whereMediaLie } from '../../prisma/stores/media.js';
import type { ActivityDeps } from '../deps.js';

export type Fetched =
  /** `failed`: for good; the row says why. `missing`: this message has no media. */
  | { state: 'stored' | 'failed' | 'missing' }
  /** Not to be had for now. */
  | { state: 'later'; code: string; delayMs?: number };

/**
 * Makes sure that the media of a message are ours, or that they have failed with a code. Again it changes nothing. How often
 * it is tried `later` is the caller's to bound; `attempt` counts the tries, from 1, and delays grow with it.
 */
export async function fetchMedia(
  { inScope, tenants, graph, log }: Pick<ActivityDeps, 'inScope' | 'tenants' | 'graph' | 'log'>,
  { tenantId, messageId, attempt }: { tenantId: string; messageId: string; attempt: number },
): Promise<Fetched> {
  const tenant = await tenants.byId(tenantId);
  const found = await inScope(tenantId, async (scope) => {
    const row = await mediaOfMessage(scope, messageId);
    return row?.state === 'remote' ? { row, place: await whereMediaLie(scope, messageId) } : { row };
  });
  if (!found.row) return { state: 'missing' };
  if (found.row.state !== 'remote') return { state: found.row.state };
  const { place } = found;
  const account = tenant.configuration.channels.whatsapp.find(
    ({ accountKey }) => place?.channel === 'whatsapp-cloud' && accountKey === place.accountKey,
  );
  const fail = async (code: string): Promise<{ state: 'failed' }> => {
    log.warn('media.failed', { tenantId, messageId, code });
    await inScope(tenantId, (scope) => failMedia(scope, { messageId, code }));
    return { state: 'failed' };
  };
  if (!place || !account) return fail('not_reachable');
  const { id: mediaId, sha256 } = place.media;
  const got = await graph.download(account, { mediaId, sha256, attempt });
  if (got.kind === 'downloaded') {
    const { content, mimeType, sha256: hash } = got;
    await inScope(tenantId, (scope) => storeMedia(scope, { messageId, content, mimeType, sha256: hash }));
    return { state: 'stored' };
  }
  const { meaning, code, delayMs } = got.error;
  // Reading may be repeated, also where nobody knows how it went.
  if (meaning !== 'busy' && meaning !== 'unknown') return fail(code);
  return { state: 'later', code, ...(delayMs !== undefined && { delayMs }) };
}

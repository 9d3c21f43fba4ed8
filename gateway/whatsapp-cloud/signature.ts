// Who a webhook comes from: HMAC-SHA256 over the bytes as they came, under the secret of the app. Nothing of a body is looked
// at before.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const FORM = /^sha256=([0-9a-f]{64})$/;

/** The signature of a request; undefined where the header is absent or of another form (SHA-1, another length). */
export function readSignature(header: string | string[] | undefined): Buffer | undefined {
  const [, hex] = (typeof header === 'string' ? FORM.exec(header) : null) ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** Whether this secret signed these bytes. An empty secret signs nothing: anybody could. Takes the same time either way. */
export function isSignedBy(
  secret: string,
  { body, signature }: { body: Uint8Array; signature: Buffer },
): boolean {
  const expected = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(expected, signature) && secret !== '';
}

/** The header of a body, as the platform makes it. */
export function signatureOf(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Compares two secrets without telling by the time it takes where they differ, nor how long they are. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(hash(one), hash(other)) && other !== '';
}

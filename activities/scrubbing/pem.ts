// Private keys in PEM blocks (RFC 7468, OpenSSH, PGP). Certificates and public keys are made to be seen and stay.
import type { Span } from './span.js';

const HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const FOOT = '-----END ';
const RULE_OFF = '-----';

/** From head to foot; a block that was cut off takes all the rest of the text along, because nothing says where it ends. */
export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  let searched = 0;
  for (const head of text.matchAll(HEAD)) {
    if (head.index < searched) continue;
    const foot = text.indexOf(FOOT, head.index + head[0].length);
    const close = foot === -1 ? -1 : text.indexOf(RULE_OFF, foot + FOOT.length);
    searched = close === -1 ? text.length : close + RULE_OFF.length;
    spans.push({ rule: 'private-key', start: head.index, end: searched });
  }
  return spans;
}

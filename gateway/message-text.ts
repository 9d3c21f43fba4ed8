// What a message of a customer may be. The same limits hold on every channel, so that nothing is accepted here that
// could not be stored, shown or sent back.

/** WhatsApp's own limit for a text message; counted in UTF-16 units, as its clients do. */
export const MAX_TEXT_LENGTH = 4096;

export type TextProblem = { status: 400 | 413; message: string };

/** Says what is wrong with a text, or nothing. Nothing is silently changed: what was accepted is what was written. */
export function textProblem(text: string): TextProblem | undefined {
  if (text.length > MAX_TEXT_LENGTH) {
    return {
      status: 413,
      message: `The text has ${text.length} characters; ${MAX_TEXT_LENGTH} are the most.`,
    };
  }
  if (text.includes('\0')) return { status: 400, message: 'The text holds a NUL character.' };
  if (!isWellFormed(text))
    return { status: 400, message: 'The text holds half of a character (a lone surrogate).' };
  if (!HAS_VISIBLE.test(text)) return { status: 400, message: 'The text is empty.' };
  return undefined;
}

/** Anything but spaces, controls and invisible format characters. */
const HAS_VISIBLE = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const LONE_SURROGATE = /\p{Surrogate}/u;

export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** What nobody can store or show (NUL, half of a character) becomes the sign for that; the rest stays as it is. */
export function wellFormed(text: string): string {
  return text.replace(UNUSABLE, '\uFFFD');
}

const UNUSABLE = /[\0\p{Surrogate}]/gu;

/** Whether a person would see anything of it. */
export function isVisible(text: string): boolean {
  return HAS_VISIBLE.test(text);
}

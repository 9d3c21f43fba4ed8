// The two kits of utterances, parsed.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { isWhole } from '../../support/whole.js';

const FOLDER = 'test/activities/detection';

const utterance = z.coerce.string().min(1);
const chatKit = z.record(z.string(), z.array(utterance));
const requestKit = z.array(z.strictObject({ text: utterance, tools: z.array(z.string()).min(1) }));

/** By language. */
export function normalChat(): Record<string, string[]> {
  return chatKit.parse(parse(readFileSync(`${FOLDER}/normal-chat.yaml`, 'utf8')));
}

/** A part of the kit that reaches over all of each language; the whole with AROKO_TEST_WHOLE=1. */
export function someNormalChat(): string[] {
  const every = isWhole() ? 1 : 5;
  return Object.values(normalChat()).flatMap((texts) => texts.filter((_, index) => index % every === 0));
}

export function requests(): { text: string; tools: string[] }[] {
  return requestKit.parse(parse(readFileSync(`${FOLDER}/requests.yaml`, 'utf8')));
}

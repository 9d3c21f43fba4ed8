// The two kits of utterances, parsed.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const FOLDER = 'test/activities/detection';

const utterance = z.coerce.string().min(1);
const chatKit = z.record(z.string(), z.array(utterance));
const requestKit = z.array(z.strictObject({ text: utterance, tools: z.array(z.string()).min(1) }));

/** By language. */
export function normalChat(): Record<string, string[]> {
  return chatKit.parse(parse(readFileSync(`${FOLDER}/normal-chat.yaml`, 'utf8')));
}

export function requests(): { text: string; tools: string[] }[] {
  return requestKit.parse(parse(readFileSync(`${FOLDER}/requests.yaml`, 'utf8')));
}

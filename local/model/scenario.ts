// Scripted answers: a first-in first-out queue that tests fill over HTTP, with every way a provider can fail.
import { z } from 'zod';

const answerSchema = z.strictObject({
  /** Only for a request whose last user text contains this; without it, for any request. */
  match: z.string().min(1).optional(),
  /** Only for requests that offer tools (true) or offer none (false). */
  withTools: z.boolean().optional(),
  /** How many requests get this answer before it leaves the queue. */
  times: z.number().int().min(1).default(1),

  text: z.string().optional(),
  /** An `id` of one's own allows doubled ids. */
  toolUse: z
    .array(z.strictObject({ name: z.string(), input: z.unknown(), id: z.string().optional() }))
    .optional(),
  /** Any string, known to clients or not. */
  stopReason: z.string().optional(),
  /** The whole body, sent as it is. */
  raw: z.record(z.string(), z.unknown()).optional(),

  status: z.number().int().min(400).max(599).optional(),
  errorType: z.string().optional(),
  message: z.string().optional(),
  /** Seconds, sent as `retry-after`. */
  retryAfter: z.number().min(0).optional(),

  /** Waits before anything is sent. */
  delayMs: z.number().int().min(0).optional(),
  /** Waits before each event of a stream. */
  eventDelayMs: z.number().int().min(0).optional(),
  /** Accepts the request and never answers. */
  silence: z.boolean().optional(),
  /** Drops the connection after so many bytes of the body; 0: before any header. */
  cutAfterBytes: z.number().int().min(0).optional(),
  /** Sends the first half of the body and ends properly. */
  halfJson: z.boolean().optional(),
});

export type ScriptedAnswer = z.infer<typeof answerSchema>;
/** As tests write it: what has a default may be left out. */
export type AnswerScript = z.input<typeof answerSchema>;

const controlSchema = z.strictObject({ answers: z.array(answerSchema) });

/** What a scripted answer may look at to know whether it is meant for a request. */
export interface RequestTraits {
  lastUserText: string;
  withTools: boolean;
}

export interface Scenario {
  /** Appends answers; returns what is wrong with them, and then appends none. */
  add(body: unknown): string | undefined;
  /** The first queued answer that fits the request, or undefined. */
  take(traits: RequestTraits): ScriptedAnswer | undefined;
  /** Answers still queued: a test that leaves some has not made the calls it meant to make. */
  waiting(): number;
  clear(): void;
}

export function createScenario(): Scenario {
  let queue: ScriptedAnswer[] = [];
  return {
    add(body) {
      const parsed = controlSchema.safeParse(body);
      if (!parsed.success) return z.prettifyError(parsed.error);
      queue.push(...parsed.data.answers);
      return undefined;
    },
    take(traits) {
      const answer = queue.find((candidate) => isMeantFor(candidate, traits));
      if (!answer) return undefined;
      answer.times -= 1;
      if (answer.times === 0) queue = queue.filter((candidate) => candidate !== answer);
      return answer;
    },
    waiting: () => queue.reduce((sum, answer) => sum + answer.times, 0),
    clear() {
      queue = [];
    },
  };
}

function isMeantFor(answer: ScriptedAnswer, traits: RequestTraits): boolean {
  const textFits = answer.match === undefined || traits.lastUserText.includes(answer.match);
  const toolsFit = answer.withTools === undefined || answer.withTools === traits.withTools;
  return textFits && toolsFit;
}

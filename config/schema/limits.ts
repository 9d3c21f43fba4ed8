// Numbers. The bounds here say what the product can do at all; the reasons for the chosen values stand in defaults/.
import { z } from 'zod';
import { checkedBy, key } from './values.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const debounceMs = z
  .int()
  .min(0)
  .max(2 * minuteMs);

const profile = z
  .strictObject({
    graceMs: z
      .int()
      .min(0)
      .max(60 * minuteMs)
      .optional(),
    debounceMs,
    debounceMaxMs: debounceMs.optional(),
    leaseMs: z.int().min(1_000).max(dayMs).optional(),
    acknowledgeAfterMs: z.int().min(500).max(minuteMs),
    inactivityMs: z
      .int()
      .min(minuteMs)
      .max(7 * dayMs),
  })
  .check(
    checkedBy(({ debounceMs: least, debounceMaxMs: most }) =>
      most === undefined || most >= least
        ? undefined
        : { wrong: `debounceMaxMs ${most} is below debounceMs ${least}`, right: 'at least debounceMs' },
    ),
  );

/** By name; an account of a channel names the one that its chats follow. */
export const profiles = z.record(key, profile);

const modelUse = z.strictObject({
  name: z.string().trim().min(1).max(200),
  maxTokens: z.int().min(64).max(64_000),
});

export const models = z.strictObject({
  chat: modelUse,
  planner: modelUse,
  summarizer: modelUse,
  effort: z.enum(['low', 'medium', 'high']),
});

export const limits = z.strictObject({
  modelCallsPerChatAndDay: z.int().min(1).max(10_000),
  historyTokens: z.int().min(200).max(200_000),
  maxCandidates: z.int().min(1).max(20),
  maxSteps: z.int().min(1).max(5),
  contextMinutes: z.int().min(1).max(10_080),
  questionMinutes: z.int().min(1).max(1_440),
  decisionMinutes: z.int().min(1).max(10_080),
  repeatHours: z.int().min(0).max(720),
  resultBytes: z.int().min(256).max(1_048_576),
  argumentsBytes: z.int().min(64).max(262_144),
  staleAfterHours: z.int().min(1).max(168),
  openApprovalsPerChat: z.int().min(1).max(100),
  approvalsPerChatAndHour: z.int().min(1).max(1_000),
});

const weight = z.number().min(0).max(100);
const share = z.number().min(0).max(1);

export const detection = z.strictObject({
  threshold: z.number().gt(0).max(1_000),
  k1: z.number().min(0).max(10),
  b: z.number().min(0).max(1),
  weights: z.strictObject({
    name: weight,
    aliases: weight,
    triggerPhrases: weight,
    tags: weight,
    description: weight,
    whenToUse: weight,
    examples: weight,
    schema: weight,
  }),
  everydayInformation: share,
  forms: z.strictObject({ request: share, question: share, statement: share }),
  coverage: z.strictObject({ request: weight, other: weight }),
  phraseBonus: weight,
  actionBonus: weight,
  valueBonus: weight,
  cataloguePenalty: weight,
  candidateShare: share,
  recentContextBonus: weight,
});

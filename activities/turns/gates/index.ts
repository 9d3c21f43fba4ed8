// The turn gates in their order (spec A1). Each decides or passes on; the last one always decides.
import type { TurnGate } from '../turn-context.js';
import { confirmation } from './confirmation.js';
import { currentDate } from './current-date.js';
import { detection } from './detection.js';
import { followUp } from './follow-up.js';
import { modelCap } from './model-cap.js';
import { openQuestion } from './open-question.js';
import { paused } from './paused.js';
import { privateAccount } from './private-account.js';
import { slashBoundary } from './slash-boundary.js';
import { transactionalSupport } from './transactional-support.js';

export const TURN_GATES: readonly TurnGate[] = [
  paused,
  slashBoundary,
  currentDate,
  privateAccount,
  transactionalSupport,
  confirmation,
  modelCap,
  openQuestion,
  followUp,
  detection,
];

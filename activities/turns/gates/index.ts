// The turn gates in their order (spec A1). Each decides or passes on; the last one always decides.
import { foreignDecision } from '../../owner/foreign-decision.js';
import type { TurnGate } from '../turn-context.js';
import { blocked } from './blocked.js';
import { confirmation } from './confirmation.js';
import { currentDate } from './current-date.js';
import { detection } from './detection.js';
import { followUp } from './follow-up.js';
import { modelCap } from './model-cap.js';
import { openQuestion } from './open-question.js';
import { privateAccount } from './private-account.js';
import { shift } from './shift.js';
import { slashBoundary } from './slash-boundary.js';
import { takeover } from './takeover.js';
import { transactionalSupport } from './transactional-support.js';

export const TURN_GATES: readonly TurnGate[] = [
  blocked,
  takeover,
  shift,
  slashBoundary,
  foreignDecision,
  currentDate,
  privateAccount,
  transactionalSupport,
  confirmation,
  modelCap,
  openQuestion,
  followUp,
  detection,
];

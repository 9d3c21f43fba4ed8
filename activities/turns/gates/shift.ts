import { isAssistantActive, staffedSince } from '../../../config/shift.js';
import { wasHandedOff } from '../../../prisma/stores/turns.js';
import { hoursOf } from '../../desk/lease.js';
import { say } from '../../sentences.js';
import type { TurnGate } from '../turn-context.js';

/**
 * While the desk is staffed its people answer (spec B8). Somebody who has been waiting for them hears nothing; somebody who
 * was talking to the assistant hears, once in these hours, that a person goes on.
 */
export const shift: TurnGate = {
  name: 'shift',
  async decide({ scope, tenant, chat, session }) {
    const hours = hoursOf(tenant);
    const now = new Date();
    if (isAssistantActive(hours, now)) return undefined;
    const because = 'people are at the desk';
    const silent = { kind: 'silent', isHandedOff: true, because } as const;
    if (session?.state === 'waiting') return silent;
    const since = staffedSince(hours, now);
    const isTold = await wasHandedOff(scope, { chatId: chat.chatId, gate: shift.name, since });
    return isTold ? silent : { kind: 'handOff', text: say(tenant, 'pausedByHuman'), because };
  },
};

// What becomes of a webhook whose signature fits: messages go into the inbox, reports about messages of ours to those, all
// else is kept as an event. When it has resolved, everything is committed; a part that can't be stored is an event with a code,
// and takes nothing else with it.
import type { ContentCipher } from '../../prisma/content.js';
import type { Database } from '../../prisma/database.js';
import { tenantOfAccount } from '../../prisma/functions.js';
import { eventDigest, keepEvents } from '../../prisma/stores/platform-events.js';
import { createInScope } from '../../prisma/stores/scope.js';
import { settleReported } from '../../prisma/stores/sends.js';
import { noteStatuses } from '../../prisma/stores/statuses.js';
import type { Inbox } from '../inbox.js';
import { Problem } from '../problems.js';
import type { SignedFor } from './accounts.js';
import { createIdentityNotes } from './identity-notes.js';
import { SortedUpdates, type Taken } from './sorted-updates.js';
import type { Update } from './updates.js';

export interface Intake {
  take(updates: readonly Update[], signedFor: SignedFor): Promise<Taken>;
}

const CHANNEL = 'whatsapp-cloud';
/** One transaction each: short enough for its time limit, also where every event is about somebody else. */
const EVENTS_AT_ONCE = 200;

export function createIntake(deps: { database: Database; content: ContentCipher; inbox: Inbox }): Intake {
  const { database, content, inbox } = deps;
  const inScope = createInScope(database, content);
  const identities = createIdentityNotes(inbox);

  async function takeMessages(sorted: SortedUpdates, taken: Taken): Promise<void> {
    const intakes = await inbox.acceptMessages(sorted.messages.map(({ message }) => message));
    for (const [place, intake] of intakes.entries()) {
      const own = sorted.messages[place];
      if (!own) continue;
      const { message, update, account } = own;
      switch (intake.outcome) {
        case 'accepted':
        case 'stored':
          taken[intake.outcome] += 1;
          break;
        case 'duplicate':
          taken.duplicates += 1;
          break;
        case 'echo':
          taken.echoes += 1;
          // It came back, so it was sent: the same as a report of the platform about it.
          sorted.report(
            account,
            {
              externalId: message.externalId,
              outboxId: intake.outboxId,
              status: 'sent',
              at: message.sentAt,
              digest: eventDigest({ content }, { field: update.field, kind: 'echo', payload: update.raw }),
            },
            update,
          );
          break;
        case 'refused':
          sorted.refuse(account, update, intake.code, message);
          break;
      }
    }
  }

  async function takeStatuses(sorted: SortedUpdates, taken: Taken): Promise<void> {
    for (const [account, reports] of sorted.reports) {
      const noted = await noteStatuses(database.prisma, {
        channel: CHANNEL,
        accountKey: account.account.accountKey,
        statuses: reports.map(({ report }) => report),
      });
      if (!noted) throw switchedOff();
      for (const [place, status] of noted.statuses.entries()) {
        const own = reports[place];
        if (!own) continue;
        taken.statuses += 1;
        if (status.outcome === 'settle')
          await inScope(noted.tenantId, (scope) => settleReported(scope, status.outboxId));
        if (status.outcome === 'unknown') {
          taken.statusesUnmatched += 1;
          sorted.event(account, own.update, {
            kind: 'status',
            code: own.report.code ?? own.report.status,
            externalId: own.report.externalId,
          });
        }
      }
    }
  }

  async function keepAll(sorted: SortedUpdates, taken: Taken): Promise<void> {
    for (const [{ account }, events] of sorted.events) {
      const where = await tenantOfAccount(database.prisma, {
        channel: CHANNEL,
        accountKey: account.accountKey,
      });
      if (!where) throw switchedOff();
      for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
        const some = events.slice(from, from + EVENTS_AT_ONCE);
        await inScope(where.tenantId, (scope) =>
          keepEvents(scope, { accountId: where.accountId, channel: CHANNEL, events: some }),
        );
      }
      taken.events += events.length;
    }
  }

  return {
    async take(updates, signedFor) {
      const taken: Taken = {
        accepted: 0,
        stored: 0,
        duplicates: 0,
        echoes: 0,
        refused: {},
        statuses: 0,
        statusesUnmatched: 0,
        events: 0,
        unattributed: 0,
      };
      const sorted = new SortedUpdates(signedFor, taken, content);
      for (const update of updates) sorted.add(update);
      await takeMessages(sorted, taken);
      await takeStatuses(sorted, taken);
      await identities.note(updates, signedFor);
      await keepAll(sorted, taken);
      return taken;
    },
  };
}

/** Configured here, and not (or no longer) in the database: the platform keeps it for us until it is. */
function switchedOff(): Problem {
  return new Problem(404, 'not_found', 'This number is not registered here, or is switched off.');
}

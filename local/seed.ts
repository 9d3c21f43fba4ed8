/** A first start finds its business at work: the tenants of the configuration, and a calendar that isn't empty. */
import { DateTime } from 'luxon';
import { accountsOf } from '../config/accounts.js';
import { slotsOf } from '../activities/tools/bookings/slots.js';
import type { Configuration, TenantConfiguration } from '../config/configuration.js';
import { openDatabase, type Database } from '../prisma/database.js';
import { reserve } from '../prisma/stores/bookings.js';
import { registerTenant } from '../prisma/stores/tenants.js';

export interface SeedOptions {
  applicationUrl: string;
  configuration: Configuration;
}

/** A fortnight of bookings is what a customer may look at. */
const DAYS = 14;
/** Every fifth slot is taken, beginning with the second: busy enough to look real, and most times are free. */
const TAKEN = { every: 5, from: 1 };

/** Registers what the configuration names; fills the calendar of a business that is new. */
export async function seedSampleBusiness(options: SeedOptions): Promise<{ seeded: boolean }> {
  const { tenants } = options.configuration;
  const database = openDatabase({ url: options.applicationUrl, poolSize: 2 });
  try {
    const registered = [];
    for (const configuration of tenants.values()) registered.push(await seed(database, configuration));
    return { seeded: registered.some((isNew) => isNew) };
  } finally {
    await database.close();
  }
}

async function seed(database: Database, configuration: TenantConfiguration): Promise<boolean> {
  const { tenantId, isNew } = await registerTenant(database, {
    slug: configuration.slug,
    name: configuration.business.name,
    accounts: accountsOf(configuration),
  });
  if (isNew && configuration.providers.bookings) await fillCalendar(database, tenantId, configuration);
  return isNew;
}

async function fillCalendar(
  database: Database,
  tenantId: string,
  configuration: TenantConfiguration,
): Promise<void> {
  const resource = configuration.providers.bookings?.resource ?? '';
  const today = DateTime.now().setZone(configuration.business.timeZone);
  const days = Array.from({ length: DAYS }, (_, ahead) => today.plus({ days: ahead + 1 }));
  const taken = days.flatMap((day) =>
    slotsOf(configuration, day).filter((_, place) => place % TAKEN.every === TAKEN.from),
  );
  await database.inTenant(tenantId, async (tx) => {
    for (const { start, end } of taken) {
      await reserve(tx, {
        tenantId,
        contactId: null,
        resource,
        startsAt: start.toJSDate(),
        endsAt: end.toJSDate(),
        requestKey: `sample/${start.toISO()}`,
        callBy: DateTime.now().plus({ minutes: 1 }).toJSDate(),
      });
    }
  });
}

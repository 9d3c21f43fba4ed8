import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { type Client, DatabaseError } from 'pg';
import { asTenant, connected, freshDatabase, type TestDatabase } from '../support/postgres.js';

/** One row in every table, for one tenant. */
const ROWS_OF_A_TENANT = `
  insert into tenants (id, slug, name) values ($T, 'desk-$N', 'A desk');
  insert into channel_accounts (id, tenant_id, channel, account_key) values ($1, $T, 'web', 'desk-$N');
  insert into contacts (id, tenant_id, kind) values ($2, $T, 'person');
  insert into data_keys (id, tenant_id, contact_id, master_version, wrapped) values ($3, $T, $2, 1, '\\x00');
  insert into contact_aliases (id, tenant_id, contact_id, channel, kind, address_hmac) values ($4, $T, $2, 'web', 'web', '\\x01');
  insert into chats (id, tenant_id, account_id, contact_id, kind, address_hmac) values ($5, $T, $1, $2, 'direct', '\\x01');
  insert into turns (id, tenant_id, chat_id, first_sequence, up_to, state) values ($6, $T, $5, 1, 1, 'claimed');
  insert into inbox (id, tenant_id, chat_id, contact_id, account_id, channel, external_id, sequence, kind, arrival, content_hmac)
    values ($7, $T, $5, $2, $1, 'web', 'm1', 1, 'text', 'turn', '\\x02');
  insert into tool_runs (turn_id, tenant_id, chat_id, contact_id, state, config_hash) values ($6, $T, $5, $2, 'waiting', 'c');
  insert into steps (id, tenant_id, turn_id, ordinal, tool, arguments_cipher, arguments_hash, key_id, state, idempotency_key)
    values ($8, $T, $6, 1, 'look', '\\x00', 'h', $3, 'accepted', 'i');
  insert into approvals (id, tenant_id, chat_id, turn_id, step_id, ref, gate, rule, tool, arguments_hash, config_hash, expires_at)
    values ($9, $T, $5, $6, $8, 'K-7Q2F', 'approve', 'r', 'look', 'h', 'c', now());
  insert into approval_decisions (id, tenant_id, approval_id, decision, surface, approver)
    values ($10, $T, $9, 'approve', 'console', 'owner');
  insert into open_questions (id, tenant_id, chat_id, turn_id, expires_at) values ($11, $T, $5, $6, now());
  insert into contexts (id, tenant_id, chat_id, turn_id, tool, content_cipher, key_id, tainted, expires_at)
    values ($12, $T, $5, $6, 'look', '\\x00', $3, false, now());
  insert into outbox (id, tenant_id, chat_id, turn_id, origin_kind, origin_id, kind) values ($13, $T, $5, $6, 'turn', $6, 'text');
  insert into switches (id, tenant_id, name, value, changed_by) values ($14, $T, 'tools', 'off', 'owner');
  insert into failures (id, tenant_id, activity, type) values ($15, $T, 'plan', 'provider');
  insert into model_calls (id, tenant_id, chat_id, purpose, model, outcome) values ($16, $T, $5, 'plan', 'm', 'ok');
  insert into login_links (token_hash, tenant_id, owner_id, expires_at) values ('\\xaa$N', $T, 'o', now() + interval '1 hour');
  insert into sessions (token_hash, tenant_id, owner_id, expires_at) values ('\\xaa$N', $T, 'o', now() + interval '1 hour');
  insert into audit_heads (tenant_id, stream, last_number, last_hash) values ($T, 'tenant', 1, '\\x00');
  insert into audit (tenant_id, stream, number, event, actor, facts, happened_at, previous_hash, hash)
    values ($T, 'tenant', 1, 'made', 'system', '{}', now(), '\\x00', '\\x00');
  insert into audit_anchors (id, tenant_id, number, hour, root, streams) values ($17, $T, 1, now(), '\\x00', 1);
  insert into audit_anchor_heads (tenant_id, anchor, stream, last_number, last_hash) values ($T, 1, 'tenant', 1, '\\x00');
  insert into bookings (id, tenant_id, resource, starts_at, ends_at) values ($18, $T, 'desk', now(), now() + interval '1 hour');
  insert into booking_changes (id, tenant_id, booking_id, kind, request_key, starts_at_before) values ($19, $T, $18, 'cancelled', 'i', now());
  insert into run_histories (id, tenant_id, chat_id, turn_id, workflow_id, execution_id, workflow_type, history)
    values ($38, $T, $5, $6, 'w', 'e', 't', '\\x00');
  insert into knowledge_passages (id, tenant_id, file, file_hash, ordinal, title, heading, body, search)
    values ($20, $T, 'a.md', 'h', 0, 'A', 'A', 'a', 'a');
  insert into chat_sessions (id, tenant_id, chat_id, state, grace_until) values ($21, $T, $5, 'waiting', now());
  insert into operator_requests (id, tenant_id, chat_id, contact_id, turn_id, operator_id, kind, ref, expires_at)
    values ($22, $T, $5, $2, $6, 'o', 'media', 'K-7Q2F', now());
  insert into media (id, tenant_id, chat_id, message_id, state) values ($23, $T, $5, $7, 'remote');
  insert into platform_events (id, tenant_id, account_id, field, kind, digest)
    values ($24, $T, $1, 'messages', 'status', '\\x00');`;

function rowsOf(tenantId: string): string {
  return ROWS_OF_A_TENANT.replaceAll('$T', `'${tenantId}'`)
    .replaceAll('$N', tenantId.slice(0, 8))
    .replaceAll(/\$(\d+)/g, (_, n: string) => `'${tenantId.slice(0, -2)}${n.padStart(2, '0')}'`);
}

/** What the database says against a statement: the SQLSTATE and the message, or how many rows it touched. */
async function outcomeOf(client: Client, sql: string): Promise<string> {
  await client.query('savepoint attempt');
  try {
    return `${(await client.query(sql)).rowCount ?? 0} rows`;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    await client.query('rollback to savepoint attempt');
    return `${error.code} ${error.message}`;
  }
}

const DENIED = /^42501 permission denied/;
const BY_POLICY = /^42501 new row violates row-level security policy/;

/** A foreign key between two tables that both hold rows of tenants, with its columns on either side in the same order. */
interface Reference {
  name: string;
  table: string;
  columns: string[];
  target: string;
  targetColumns: string[];
}

const REFERENCES = `
  select k.conname as name, k.conrelid::regclass::text as "table", k.confrelid::regclass::text as target,
    (select array_agg(a.attname::text order by i.at) from unnest(k.conkey) with ordinality i(number, at)
       join pg_attribute a on a.attrelid = k.conrelid and a.attnum = i.number) as columns,
    (select array_agg(a.attname::text order by i.at) from unnest(k.confkey) with ordinality i(number, at)
       join pg_attribute a on a.attrelid = k.confrelid and a.attnum = i.number) as "targetColumns"
  from pg_constraint k
  where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not exists (
    select from unnest(array[k.conrelid, k.confrelid]) t(id)
    where not exists (select from pg_attribute a where a.attrelid = t.id and a.attname = 'tenant_id'))
  order by 2, 1`;

describe('row-level security', () => {
  const ours = randomUUID();
  const theirs = randomUUID();
  let database: TestDatabase;
  let tables: { name: string; tenantColumn: string }[];

  before(async () => {
    database = await freshDatabase();
    tables = await connected(database.superuserUrl, async (client) => {
      await client.query(rowsOf(ours));
      await client.query(rowsOf(theirs));
      const { rows } = await client.query<{ name: string; tenantColumn: string }>(
        `select c.relname as name, a.attname as "tenantColumn" from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
           and a.attname = case when c.relname = 'tenants' then 'id' else 'tenant_id' end`,
      );
      return rows;
    });
  });

  /** For every table and as one role, in a transaction of ours that is rolled back. */
  async function inEveryTable(
    url: string,
    tenantId: string | undefined,
    work: (client: Client, table: { name: string; tenantColumn: string }) => Promise<void>,
  ) {
    assert.equal(tables.length, 32);
    await connected(url, async (client) => {
      for (const table of tables) await asTenant(client, tenantId, () => work(client, table));
    });
  }

  const count = async (client: Client, table: string, where = 'true') =>
    Number((await client.query(`select count(*) from ${table} where ${where}`)).rows[0].count);

  it('is forced on every table, and no role of ours may pass it by', async () => {
    await connected(database.superuserUrl, async (client) => {
      const open = await client.query(
        `select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
         and relname <> '_prisma_migrations' and not (relrowsecurity and relforcerowsecurity)`,
      );
      assert.deepEqual(open.rows, []);
      const roles = await client.query(
        `select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as mighty
         from pg_roles where rolname like 'aroko%' order by 1`,
      );
      assert.deepEqual(
        roles.rows.map((row) => [row.rolname, row.mighty]),
        [
          ['aroko_app', false],
          ['aroko_owner', false],
          ['aroko_read', false],
        ],
      );
    });
  });

  it('shows the application the rows of its tenant and no others', async () => {
    await inEveryTable(database.superuserUrl, undefined, async (client, { name }) => {
      assert.equal(await count(client, name), 2, name);
    });
    await inEveryTable(database.applicationUrl, ours, async (client, { name, tenantColumn }) => {
      assert.equal(await count(client, name), 1, name);
      assert.equal(await count(client, name, `${tenantColumn} = '${theirs}'`), 0, name);
    });
  });

  it('shows nothing without a tenant, also after a transaction that had one', async () => {
    await inEveryTable(database.applicationUrl, undefined, async (client, { name }) => {
      assert.equal(await count(client, name), 0, name);
    });
    await connected(database.applicationUrl, async (client) => {
      await asTenant(client, ours, async () => assert.equal(await count(client, 'inbox'), 1));
      assert.equal(await count(client, 'inbox'), 0);
    });
  });

  it("lets the application neither change nor delete another tenant's rows", async () => {
    await inEveryTable(database.applicationUrl, ours, async (client, { name, tenantColumn }) => {
      const theirRows = `where ${tenantColumn} = '${theirs}'`;
      const update = await outcomeOf(
        client,
        `update ${name} set ${tenantColumn} = ${tenantColumn} ${theirRows}`,
      );
      assert.match(update, update === '0 rows' ? /^0 rows$/ : DENIED, `update ${name}`);
      const erase = await outcomeOf(client, `delete from ${name} ${theirRows}`);
      assert.match(erase, erase === '0 rows' ? /^0 rows$/ : DENIED, `delete from ${name}`);
      assert.match(await outcomeOf(client, `truncate ${name} cascade`), DENIED, `truncate ${name}`);
    });
  });

  it('lets the application put no row into another tenant, by insert or by update', async () => {
    let byPolicy = 0;
    await inEveryTable(database.applicationUrl, ours, async (client, { name, tenantColumn }) => {
      const insert = await outcomeOf(
        client,
        `insert into ${name} select (jsonb_populate_record(row, jsonb_build_object('${tenantColumn}', '${theirs}'))).* from ${name} row`,
      );
      const update = await outcomeOf(client, `update ${name} set ${tenantColumn} = '${theirs}'`);
      for (const [verb, outcome] of Object.entries({ insert, update })) {
        assert.match(outcome, outcome.includes('policy') ? BY_POLICY : DENIED, `${verb} ${name}`);
        if (outcome.startsWith('42501 new row violates row-level security policy')) byPolicy += 1;
      }
    });
    // 22 tables take both from the application, six more only inserts; the audit's four take nothing.
    assert.equal(byPolicy, 22 * 2 + 6);
  });

  // Foreign keys and unique indexes are checked past the policies, so these two hold for the constraints themselves.
  it("lets no row of the application's tenant point at another tenant's, by insert or by update", async () => {
    await connected(database.superuserUrl, async (client) => {
      const { rows: references } = await client.query<Reference>(REFERENCES);
      assert.ok(references.length >= 25, `only ${references.length} foreign keys were found`);
      for (const { name, table, columns, target, targetColumns } of references) {
        const at = columns.indexOf('tenant_id');
        assert.ok(at >= 0 && targetColumns[at] === 'tenant_id', `${name} leaves the tenant out`);
        const [column, targetColumn] = [columns, targetColumns].map((all) =>
          all.find((one) => one !== 'tenant_id'),
        );
        assert.ok(column && targetColumn && columns.length === 2, name);
        await asTenant(client, ours, async () => {
          const { rows } = await client.query<{ ours: string; foreign: string }>(
            `select (select to_jsonb(row) from ${table} row where tenant_id = $1)::text as ours,
               (select ${targetColumn} from ${target} where tenant_id = $2)::text as foreign`,
            [ours, theirs],
          );
          assert.ok(rows[0]?.ours && rows[0].foreign, name);
          const insert = (changes: object) =>
            outcomeOf(
              client,
              `insert into ${table} select (jsonb_populate_record(null::${table},
                 '${rows[0]?.ours}'::jsonb || '${JSON.stringify(changes)}'::jsonb)).*`,
            );
          // Out of the way, so that no unique index speaks before the foreign key does.
          await client.query('set local session_replication_role = replica');
          await client.query(`delete from ${table}`);
          await client.query('set local session_replication_role = origin');
          await client.query('set local role aroko_app');
          const refused = await insert({ [column]: rows[0].foreign });
          assert.ok(refused.startsWith('23503 ') && refused.includes(`"${name}"`), `${name}: ${refused}`);
          assert.equal(await insert({}), '1 rows', name);
          const update = await outcomeOf(client, `update ${table} set ${column} = '${rows[0].foreign}'`);
          assert.match(update, update.startsWith('42501') ? DENIED : /^23503 /, `update ${table}.${column}`);
        });
      }
    });
  });

  it('keeps every unique index of rows apart by tenant', async () => {
    await connected(database.superuserUrl, async (client) => {
      // Primary keys are random ids or hashes of random tokens; tool_runs' is its reference to the turn.
      const { rows } = await client.query<{ name: string }>(
        `select i.indexrelid::regclass::text as name from pg_index i
           join pg_attribute a on a.attrelid = i.indrelid and a.attname = 'tenant_id'
           join pg_class c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
         where (i.indisunique or i.indisexclusion) and not i.indisprimary and i.indkey[0] <> a.attnum`,
      );
      // A platform's message names its account before anybody knows the tenant.
      assert.deepEqual(
        rows.map(({ name }) => name),
        ['channel_accounts_channel_account_key_key'],
      );
    });
  });

  it("lets nothing of the application's stand in another tenant's way", async () => {
    await connected(database.applicationUrl, async (client) => {
      await asTenant(client, theirs, async () => {
        const { rows } = await client.query<{ contact: string; chat: string; turn: string }>(
          'select c.contact_id as contact, c.id as chat, t.id as turn from chats c join turns t on t.chat_id = c.id',
        );
        assert.ok(rows[0]);
        const { contact, chat, turn } = rows[0];
        await client.query("select set_config('app.tenant', $1, true)", [ours]);
        for (const sql of [
          `insert into data_keys (id, tenant_id, contact_id, master_version, wrapped)
             values ('${randomUUID()}', '${ours}', '${contact}', 1, '\\x00')`,
          `insert into open_questions (id, tenant_id, chat_id, turn_id, expires_at)
             values ('${randomUUID()}', '${ours}', '${chat}', '${turn}', now())`,
          `insert into turns (id, tenant_id, chat_id, first_sequence, up_to, state)
             values ('${randomUUID()}', '${ours}', '${chat}', 1, 1, 'claimed')`,
        ]) {
          // Not 23505, though the place is taken: it isn't theirs to know.
          assert.match(await outcomeOf(client, sql), /^23503 /, sql);
        }
      });
    });
  });

  it('lets the read-only role read one tenant, without its keys, links and sessions, and write nothing', async () => {
    const secret = ['data_keys', 'login_links', 'sessions'];
    await inEveryTable(database.readOnlyUrl, ours, async (client, { name, tenantColumn }) => {
      const read = await outcomeOf(client, `select from ${name}`);
      assert.match(read, secret.includes(name) ? DENIED : /^1 rows$/, `select from ${name}`);
      for (const sql of [
        `insert into ${name} default values`,
        `update ${name} set ${tenantColumn} = ${tenantColumn}`,
        `delete from ${name}`,
        `truncate ${name}`,
      ]) {
        assert.match(await outcomeOf(client, sql), DENIED, sql);
      }
    });
    await inEveryTable(database.readOnlyUrl, undefined, async (client, { name }) => {
      if (!secret.includes(name)) assert.equal(await count(client, name), 0, name);
    });
  });

  it('holds the owner of the tables too, but for the look-ups of its functions', async () => {
    const looksAcross = [
      'approvals',
      'channel_accounts',
      'chat_sessions',
      'chats',
      'inbox',
      'login_links',
      'operator_requests',
      'outbox',
      'run_histories',
      'sessions',
      'steps',
      'tenants',
      'tool_runs',
      'turns',
    ];
    const seen: string[] = [];
    await inEveryTable(database.ownerUrl, undefined, async (client, { name, tenantColumn }) => {
      if ((await count(client, name)) > 0) seen.push(name);
      const update = await outcomeOf(client, `update ${name} set ${tenantColumn} = ${tenantColumn}`);
      assert.equal(update, '0 rows', `update ${name}`);
    });
    assert.deepEqual(seen.sort(), looksAcross);
  });

  it('gives nobody but the application the functions that look across tenants, and fixes their search path', async () => {
    await connected(database.superuserUrl, async (client) => {
      const { rows } = await client.query(
        `select proname as name, coalesce('search_path=public, pg_temp' = any (proconfig), false) as fixed,
           has_function_privilege('aroko_app', oid, 'execute') as app, has_function_privilege('aroko_read', oid, 'execute') as read
         from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by 1`,
      );
      assert.ok(rows.length >= 9);
      for (const row of rows)
        assert.deepEqual({ ...row }, { name: row.name, fixed: true, app: true, read: false });
      const anybody = await client.query(
        `select proname from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
         where pronamespace = 'public'::regnamespace and proname like 'aroko%' and a.grantee = 0`,
      );
      assert.deepEqual(anybody.rows, []);
    });
  });
});

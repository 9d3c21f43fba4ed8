import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { connected, freshDatabase } from '../support/postgres.js';

/** `table.column type null? default?`: what both sides have to say alike. */
type Column = string;

const SQL_TYPES: Record<string, string> = {
  'String @db.Uuid': 'uuid',
  String: 'text',
  'String[]': '_text',
  Int: 'int4',
  Boolean: 'bool',
  'DateTime @db.Timestamptz': 'timestamptz',
  Json: 'jsonb',
  Bytes: 'bytea',
  'Unsupported("tsvector")': 'tsvector',
};

/** The generated client keeps no nullability, so the schema's text is read: one field to a line, attributes after the type. */
function columnsOfSchema(schema: string): Column[] {
  return [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? 'unnamed';
    return body.split('\n').flatMap((line) => {
      const [, field, type = '', isArray = '', isNullable = '', attributes = ''] =
        /^ {2}(\w+) +(Unsupported\("\w+"\)|\w+)(\[\])?(\?)?(.*)$/.exec(line) ?? [];
      const native = /@db\.\w+/.exec(attributes)?.[0];
      const prismaType = `${type}${isArray}${native ? ` ${native}` : ''}`;
      const isRelation =
        /^[A-Z]\w*$/.test(type) && !['String', 'Int', 'Boolean', 'DateTime', 'Json', 'Bytes'].includes(type);
      if (!field || isRelation) return [];
      const name = /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? field;
      return [
        column(
          table,
          name,
          SQL_TYPES[prismaType] ?? prismaType,
          isNullable === '?',
          attributes.includes('@default'),
        ),
      ];
    });
  });
}

function column(table: string, name: string, type: string, isNullable: boolean, hasDefault: boolean): Column {
  return `${table}.${name} ${type}${isNullable ? ' null' : ''}${hasDefault ? ' default' : ''}`;
}

async function columnsOfDatabase(url: string): Promise<Column[]> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{
      table_name: string;
      column_name: string;
      udt_name: string;
      is_nullable: string;
      column_default: string | null;
    }>(
      `select * from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'`,
    );
    return rows.map((row) =>
      column(
        row.table_name,
        row.column_name,
        row.udt_name,
        row.is_nullable === 'YES',
        row.column_default !== null,
      ),
    );
  });
}

/** `table (column, …)` of every @@unique and @unique. What holds for some rows only, Prisma can't say. */
function uniquesOfSchema(schema: string): string[] {
  return [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? 'unnamed';
    const nameOf = (field: string) =>
      new RegExp(`^ {2}${field} .*@map\\("(\\w+)"\\)`, 'm').exec(body)?.[1] ?? field;
    const together = [...body.matchAll(/@@unique\(\[(.+?)\]\)/g)].map(([, fields = '']) =>
      fields.split(', '),
    );
    const alone = [...body.matchAll(/^ {2}(\w+) .*[^@]@unique\b/gm)].map(([, field = '']) => [field]);
    return [...together, ...alone].map((fields) => `${table} (${fields.map(nameOf).join(', ')})`);
  });
}

async function uniquesOfDatabase(url: string): Promise<string[]> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ entry: string }>(
      `select c.relname || ' (' || (select string_agg(a.attname, ', ' order by k.at)
         from unnest(i.indkey) with ordinality k(number, at)
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number) || ')' as entry
       from pg_index i join pg_class c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
       where i.indisunique and not i.indisprimary and i.indpred is null and i.indexprs is null`,
    );
    return rows.map(({ entry }) => entry);
  });
}

describe('schema.prisma and the migrations', () => {
  const schemaFile = new URL('../../prisma/schema.prisma', import.meta.url);

  it('have the same tables and columns, with the same types, nullability and defaults', async () => {
    const inSchema = columnsOfSchema(await readFile(schemaFile, 'utf8')).sort();
    const inDatabase = (await columnsOfDatabase((await freshDatabase()).ownerUrl)).sort();
    assert.ok(inSchema.length > 200, `only ${inSchema.length} columns were read`);
    assert.deepEqual(inSchema, inDatabase);
  });

  it('have the same unique columns', async () => {
    const inSchema = uniquesOfSchema(await readFile(schemaFile, 'utf8')).sort();
    assert.ok(inSchema.length > 20, `only ${inSchema.length} were read`);
    assert.deepEqual(inSchema, (await uniquesOfDatabase((await freshDatabase()).ownerUrl)).sort());
  });

  it('would be seen to differ', async () => {
    const { ownerUrl } = await freshDatabase();
    await connected(ownerUrl, async (client) => {
      await client.query('alter table switches add column note text');
      await client.query('alter table contexts alter column tainted drop not null');
    });
    const inSchema = columnsOfSchema(await readFile(schemaFile, 'utf8'));
    const inDatabase = await columnsOfDatabase(ownerUrl);
    assert.deepEqual(inDatabase.filter((entry) => !inSchema.includes(entry)).sort(), [
      'contexts.tainted bool null',
      'switches.note text null',
    ]);
  });
});

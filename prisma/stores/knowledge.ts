// The business's own pages, cut into passages and searched by Postgres in the language they are written in.
import { randomUUID } from 'node:crypto';
import type { Tx } from '../database.js';
import type { Scope } from './scope.js';

export interface Passage {
  title: string;
  /** The headings above it, from the page's own down: `Repairs › Punctures`. */
  heading: string;
  /** One paragraph, list item or table row to a line. */
  body: string;
}

export interface Page {
  file: string;
  /** Changes with anything that would change the passages. */
  fileHash: string;
  passages: Passage[];
}

/** Languages of BCP 47 that Postgres brings a configuration for; the words of others are compared as they stand. */
const TEXT_SEARCH: Record<string, string> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  et: 'estonian',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  ne: 'nepali',
  nl: 'dutch',
  no: 'norwegian',
  nb: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};

function textSearchOf(language: string): string {
  return TEXT_SEARCH[language.split('-')[0] ?? ''] ?? 'simple';
}

/** Keeps others from ingesting the same tenant's pages until the commit. */
export async function lockKnowledge({ tx, tenantId }: Scope): Promise<void> {
  await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`knowledge/${tenantId}`}, 0))::text`;
}

/** Hash by file of everything that is stored. */
export async function storedPages({ tx }: Scope): Promise<Map<string, string>> {
  const rows = await tx.knowledgePassage.findMany({
    distinct: ['file'],
    select: { file: true, fileHash: true },
  });
  return new Map(rows.map(({ file, fileHash }) => [file, fileHash]));
}

export async function removePage({ tx }: Scope, { file }: { file: string }): Promise<void> {
  await tx.knowledgePassage.deleteMany({ where: { file } });
}

/** Stores a page in place of what was stored under its name. */
export async function replacePage(scope: Scope, page: Page & { language: string }): Promise<void> {
  await removePage(scope, page);
  for (const [ordinal, { title, heading, body }] of page.passages.entries()) {
    await scope.tx.$executeRaw`
      insert into knowledge_passages (id, tenant_id, file, file_hash, ordinal, title, heading, body, search)
      select ${randomUUID()}::uuid, ${scope.tenantId}::uuid, ${page.file}, ${page.fileHash}, ${ordinal}::int, ${title}, ${heading},
        ${body}, setweight(to_tsvector(l, ${heading}), 'A') || setweight(to_tsvector(l, ${body}), 'B')
      from (select ${textSearchOf(page.language)}::text::regconfig as l) as language`;
  }
}

export interface FoundPassage extends Passage {
  file: string;
  /** All that was asked for stands in it, not only some of the words. */
  isWhole: boolean;
  /** How well each line of the body fits, in their order. */
  lineRanks: number[];
}

/**
 * Passages for a question in plain words, best first. Those that hold all its words come alone; where none does, those
 * that hold at least a third of them. Quotation marks, `or` and a minus work as in web searches.
 */
export async function searchPassages(
  tx: Tx,
  search: { question: string; language: string; limit: number },
): Promise<FoundPassage[]> {
  const rows = await tx.$queryRaw<FoundPassage[]>`
    with asked as (
      select l, websearch_to_tsquery(l, ${search.question}) as every, terms,
        -- Lexemes keep their quotes in the text of a query, so only the operators between them change.
        replace(plainto_tsquery(l, ${search.question})::text, ' & ', ' | ')::tsquery as any_of
      from (select l, tsvector_to_array(to_tsvector(l, ${search.question})) as terms
            from (select ${textSearchOf(search.language)}::text::regconfig as l) as c) as t),
    ranked as (
      select p.*, asked.l, asked.any_of, p.search @@ asked.every as is_whole,
        (select count(*) from unnest(p.search) w where w.lexeme = any (asked.terms)) as hits, cardinality(asked.terms) as wanted,
        ts_rank_cd(p.search, asked.any_of) as rank
      from knowledge_passages p, asked where p.search @@ asked.every or p.search @@ asked.any_of),
    fitting as (
      select * from ranked where is_whole or (not exists (select from ranked where is_whole) and hits * 3 >= wanted)
      order by is_whole desc, hits desc, rank desc, file, ordinal limit ${search.limit}::int)
    select file, title, heading, body, is_whole as "isWhole",
      array(select ts_rank(to_tsvector(l, line), any_of)::float8 from unnest(string_to_array(body, E'\n')) with ordinality as b (line, n)
            order by n) as "lineRanks"
    from fitting order by is_whole desc, hits desc, rank desc, file, ordinal`;
  return rows;
}

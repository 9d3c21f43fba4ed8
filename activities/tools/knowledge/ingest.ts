// From a folder of Markdown pages to passages in the database. Doing it again changes nothing; a page that has changed is
// replaced, one that is gone is removed.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  lockKnowledge,
  removePage,
  replacePage,
  storedPages,
  type Page,
} from '../../../prisma/stores/knowledge.js';
import type { InScope } from '../../../prisma/stores/scope.js';
import { cutPage } from './cut-page.js';

/** Changes when pages are cut in another way, so that what is stored is made anew. */
const CUT_VERSION = 1;

export interface KnowledgeSource {
  tenantId: string;
  /** Holds `*.md`; a folder that isn't there holds nothing. */
  folder: string;
  /** BCP 47: the language of the pages. */
  language: string;
  passageCharacters: number;
}

/** Names of files, as far as anything was done. */
export interface Ingested {
  stored: string[];
  removed: string[];
}

export async function ingestKnowledge(inScope: InScope, source: KnowledgeSource): Promise<Ingested> {
  const pages = await readPages(source);
  return inScope(source.tenantId, async (scope) => {
    await lockKnowledge(scope);
    const known = await storedPages(scope);
    const changed = pages.filter(({ file, fileHash }) => known.get(file) !== fileHash);
    const removed = [...known.keys()].filter((file) => !pages.some((page) => page.file === file)).sort();
    for (const file of removed) await removePage(scope, { file });
    for (const page of changed) await replacePage(scope, { ...page, language: source.language });
    return { stored: changed.map(({ file }) => file), removed };
  });
}

async function readPages({ folder, language, passageCharacters }: KnowledgeSource): Promise<Page[]> {
  if (!existsSync(folder)) return [];
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  const pages = await Promise.all(
    files.map(async (file) => {
      const markdown = await readFile(join(folder, file), 'utf8');
      const fileHash = createHash('sha256')
        .update(JSON.stringify([CUT_VERSION, language, passageCharacters, markdown]))
        .digest('hex');
      return {
        file,
        fileHash,
        passages: cutPage(markdown, { passageCharacters, fallbackTitle: titleOf(file) }),
      };
    }),
  );
  // A page without words leaves no row that could remember its hash.
  return pages.filter(({ passages }) => passages.length > 0);
}

/** `getting-here.md` → `Getting here`. */
function titleOf(file: string): string {
  const words = file.replace(/\.md$/, '').replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

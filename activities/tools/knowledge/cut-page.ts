// A Markdown page as passages: cut at headings, then at paragraphs, list items and table rows. Only a paragraph that is
// too long by itself is cut between its sentences. What comes out is plain text, one of these units to a line.
import { lexer, type Token, type Tokens } from 'marked';
import type { Passage } from '../../../prisma/stores/knowledge.js';

/** Told apart from everything that a heading may hold. */
const PATH_SEPARATOR = ' › ';

/** `fallbackTitle` is the title of a page without a heading of the first level. */
export function cutPage(
  markdown: string,
  { passageCharacters, fallbackTitle }: { passageCharacters: number; fallbackTitle: string },
): Passage[] {
  const tokens = lexer(markdown);
  const first = tokens.find(
    (token): token is Tokens.Heading => token.type === 'heading' && token.depth === 1,
  );
  const title = (first && plain(first.tokens)) ?? fallbackTitle;
  const passages: Passage[] = [];
  let path: string[] = [title];
  let lines: string[] = [];
  const close = (): void => {
    const heading = path.filter((part) => part !== '').join(PATH_SEPARATOR);
    passages.push(...packed(lines, passageCharacters).map((body) => ({ title, heading, body })));
    lines = [];
  };
  for (const token of tokens) {
    if (isHeading(token)) {
      close();
      // A level that was skipped leaves an empty place, so that siblings replace each other.
      const above = Array.from({ length: token.depth - 1 }, (_, level) => path[level] ?? '');
      path = token.depth === 1 ? [plain(token.tokens)] : [...above, plain(token.tokens)];
    } else {
      lines.push(...linesOf(token).flatMap((line) => shortened(line, passageCharacters)));
    }
  }
  close();
  return passages;
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}

function linesOf(token: Token): string[] {
  if (isList(token)) return token.items.flatMap(itemLines);
  if (isTable(token)) return tableLines(token);
  const children = childrenOf(token);
  if (token.type === 'blockquote') return (children ?? []).flatMap(linesOf);
  if (token.type === 'space' || token.type === 'hr' || token.type === 'html') return [];
  const text = children ? plain(children) : 'text' in token ? squeezed(String(token.text)) : '';
  return text === '' ? [] : [text];
}

/** An item's own words, then those of lists within it. */
function itemLines(item: Tokens.ListItem): string[] {
  const nested = item.tokens.filter(isList);
  const own = squeezed(
    item.tokens
      .filter((token) => !isList(token))
      .flatMap(linesOf)
      .join(' '),
  );
  return [...(own === '' ? [] : [own]), ...nested.flatMap(linesOf)];
}

/** A row to a line: its first cell names what the others say, and where there are several, each is named by its column. */
function tableLines({ header, rows }: Tokens.Table): string[] {
  const columns = header.map((cell) => plain(cell.tokens));
  return rows.map((row) => {
    const [name = '', ...values] = row.map((cell) => plain(cell.tokens));
    const said = values
      .map((value, place) => ({ value, column: values.length > 1 ? (columns[place + 1] ?? '') : '' }))
      .filter(({ value }) => value !== '')
      .map(({ value, column }) => `${column} ${value}`.trim());
    return said.length === 0 ? name : `${name}: ${said.join(', ')}`;
  });
}

/** Words without their markup; a link is its words. */
function plain(tokens: readonly Token[]): string {
  return squeezed(tokens.map(inlineText).join(''));
}

function inlineText(token: Token): string {
  if (token.type === 'br') return ' ';
  if (token.type === 'html') return '';
  const children = childrenOf(token);
  if (children) return children.map(inlineText).join('');
  return 'text' in token ? String(token.text) : '';
}

function childrenOf(token: Token): Token[] | undefined {
  return 'tokens' in token ? token.tokens : undefined;
}

function squeezed(text: string): string {
  return unescaped(text).replace(/\s+/g, ' ').trim();
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** A line that is too long, cut between sentences where that helps. */
function shortened(line: string, most: number): string[] {
  if (line.length <= most) return [line];
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(line)];
  return packed(
    sentences.flatMap(({ segment }) => pieces(segment.trim(), most)),
    most,
    ' ',
  );
}

/** A sentence that is still too long is cut between words; a single word stays whole. */
function pieces(text: string, most: number): string[] {
  return text.length <= most ? [text] : packed(text.split(' '), most, ' ');
}

/** Joins neighbours as long as they fit. */
function packed(parts: readonly string[], most: number, separator = '\n'): string[] {
  const full: string[] = [];
  for (const part of parts) {
    const last = full.at(-1);
    if (last !== undefined && last.length + separator.length + part.length <= most) {
      full[full.length - 1] = last + separator + part;
    } else if (part !== '') full.push(part);
  }
  return full;
}

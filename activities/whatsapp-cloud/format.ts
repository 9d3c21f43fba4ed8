// Markdown, as models write it, in WhatsApp's own marks: *bold* _italic_ ~struck~ `code`, lists, quotes. What WhatsApp has no
// mark for is said in plain text: a link as its text and address, a heading in bold, a table line by line. Addresses and
// words are never changed: where a mark would touch one, the mark is left out.
import { marked, type Token, type Tokens } from 'marked';

/** Puts Markdown into WhatsApp's marks. Text without marks comes out as it was, but for blank lines at its ends. */
export function toWhatsApp(markdown: string): string {
  return blocks(marked.lexer(markdown, { gfm: true })).trim();
}

function blocks(tokens: Token[]): string {
  return tokens
    .map(block)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

function block(token: Token): string {
  if (is(token, 'heading')) return bold(inline(token.tokens).replaceAll('*', ''));
  if (is(token, 'paragraph')) return inline(token.tokens);
  if (is(token, 'text')) return token.tokens ? inline(token.tokens) : plain(token.text);
  if (is(token, 'code')) return token.text === '' ? token.raw.trim() : `\`\`\`\n${token.text}\n\`\`\``;
  if (is(token, 'blockquote')) return prefixed(blocks(token.tokens), '> ');
  if (is(token, 'list')) return list(token);
  if (is(token, 'table')) return table(token);
  if (is(token, 'hr')) return '———';
  if (token.type === 'space' || token.type === 'def') return '';
  return plain(token.raw.trim());
}

function list({ items, ordered, start }: Tokens.List): string {
  const first = typeof start === 'number' ? start : 1;
  return items
    .map((item, index) => {
      const mark = ordered ? `${first + index}. ` : '- ';
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const content = item.tokens
        .filter((token) => token.type !== 'checkbox')
        .map(block)
        .filter((text) => text !== '')
        .join('\n');
      return mark + box + content.replaceAll('\n', '\n  ');
    })
    .join('\n');
}

function table({ header, rows }: Tokens.Table): string {
  const lineOf = (cells: Tokens.TableCell[]): string => cells.map(({ tokens }) => inline(tokens)).join(' | ');
  const titles = header.map(({ tokens }) => inline(tokens).replaceAll('*', ''));
  const head = titles.some((title) => title !== '') ? [bold(titles.join(' | '))] : [];
  return [...head, ...rows.map(lineOf)].join('\n');
}

function prefixed(text: string, prefix: string): string {
  return text
    .split('\n')
    .map((line) => prefix + line)
    .join('\n');
}

function bold(text: string): string {
  return text.trim() === '' || holdsAddress(text) ? text : `*${text}*`;
}

function inline(tokens: readonly Token[]): string {
  let said = '';
  for (const [index, token] of tokens.entries()) {
    const after = tokens[index + 1]?.raw ?? '';
    said += piece(token, { before: said, after });
  }
  return said;
}

function piece(token: Token, around: { before: string; after: string }): string {
  if (is(token, 'strong')) return emphasis('*', token, around);
  if (is(token, 'em')) return emphasis('_', token, around);
  if (is(token, 'del')) return emphasis('~', token, around);
  if (is(token, 'codespan')) return `\`${token.text}\``;
  if (is(token, 'link')) return link(token);
  if (is(token, 'image')) return said(token.text, token.href);
  if (is(token, 'br')) return '\n';
  if (is(token, 'escape')) return token.text;
  if (is(token, 'text')) return token.tokens ? inline(token.tokens) : plain(token.text);
  if (is(token, 'html')) return /^<br\s*\/?>$/i.test(token.raw) ? '\n' : token.raw;
  return token.raw;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/**
 * Sets marks around a text where WhatsApp will read them as such: tight to the text, and not within a word. The mark itself
 * inside would end it too early.
 */
function emphasis(
  mark: string,
  { raw, tokens }: { raw: string; tokens: Token[] },
  { before, after }: { before: string; after: string },
): string {
  const inner = inline(tokens);
  const [, lead = '', text = '', trail = ''] = /^(\s*)(.*?)(\s*)$/s.exec(inner) ?? [];
  const neighbours = (lead === '' ? before.slice(-1) : '') + (trail === '' ? after.slice(0, 1) : '');
  // 2*3*4 is a sum, and foo*bar* perhaps a name: what may not have been meant as a mark is said as it was written.
  if (WORD_CHARACTER.test(neighbours)) return mark === '*' && !/\p{N}/u.test(neighbours) ? inner : raw;
  const isMarkable = text !== '' && !text.includes(mark) && !text.includes('\n\n') && !holdsAddress(text);
  return isMarkable ? `${lead}${mark}${text}${mark}${trail}` : inner;
}

function holdsAddress(text: string): boolean {
  return /https?:\/\/|www\./i.test(text);
}

function link({ raw, text, href, tokens }: Tokens.Link): string {
  // An address that stands for itself is said exactly as it was written.
  if (raw === text || raw === `<${text}>`) return text;
  return said(inline(tokens), href);
}

/** The words and the address behind them; once where they are the same. */
function said(words: string, href: string): string {
  const address = href.replace(/^(mailto|tel):/i, '');
  if (words === '' || words === address) return address;
  return address === '' || address.startsWith('#') ? words : `${words} (${address})`;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

function plain(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

interface ByType {
  heading: Tokens.Heading;
  paragraph: Tokens.Paragraph;
  text: Tokens.Text;
  code: Tokens.Code;
  blockquote: Tokens.Blockquote;
  list: Tokens.List;
  table: Tokens.Table;
  hr: Tokens.Hr;
  strong: Tokens.Strong;
  em: Tokens.Em;
  del: Tokens.Del;
  codespan: Tokens.Codespan;
  link: Tokens.Link;
  image: Tokens.Image;
  br: Tokens.Br;
  escape: Tokens.Escape;
  html: Tokens.HTML;
}

/** The parser's own type ends in an open `Generic`, which keeps the compiler from telling tokens apart by `type`. */
function is<Type extends keyof ByType>(token: Token, type: Type): token is ByType[Type] {
  return token.type === type;
}

/** Foreign text and tables in Markdown as GitHub reads it. Pure. */
import { plainText } from './terminal.ts';

const entity = (one: string): string => `&#${one.charCodeAt(0)};`;

/** A text within a line: nothing in it is markup, a link, a mention, a formula or the end of a table's cell. */
const harmless = (text: string): string =>
  plainText(text)
    .replace(/[\\`*_[\]<>#|~&@$]|:(?=\/\/|[a-z0-9_+-]+:)/gi, entity)
    .replace(/\bwww\./gi, (found) => `${found.slice(0, -1)}${entity('.')}`);

/** A text at the start of a line, where it isn't the marker of a list either. */
export const marked = (text: string): string =>
  harmless(text)
    .trim()
    .replace(/^(?:[-+]|\d+[.)])/, (found) => found.slice(0, -1) + entity(found.at(-1)!));

/** A name or path, set apart. */
export const code = (text: string): string => `<code>${harmless(text)}</code>`;

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

/** Rows as a table, the head first; columns of numbers to the right. */
export const markdownTable = (rows: readonly (readonly string[])[], right: readonly number[]): string => {
  const [head = [], ...body] = rows.map((row) => row.map(harmless));
  return (
    line(head) + line(head.map((_, at) => (right.includes(at) ? '---:' : '---'))) + body.map(line).join('')
  );
};

/** Most entries of one list: a page is read by people. */
const MOST = 30;

/** Texts as a list. */
export const markdownList = (texts: readonly string[]): string =>
  texts
    .slice(0, MOST)
    .map((one) => `- ${marked(one)}\n`)
    .join('') + (texts.length > MOST ? `- and ${texts.length - MOST} more\n` : '');

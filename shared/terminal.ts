/** Text for terminals: foreign text made harmless, tables, colour. */

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/**
 * What a terminal obeys or shows as nothing: controls, bidirectional overrides, invisible characters (tags too, which are
 * pairs), half characters.
 */
const HARMFUL =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const asEscapes = (one: string): string =>
  one
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Foreign text (names, messages of workloads) with all that is harmful shown as escapes, so that it can't move the cursor, hide or reorder what a terminal shows. */
export const plainText = (text: string): string =>
  text.replace(HARMFUL, (one) => ESCAPES[one] ?? asEscapes(one));

/** JSON text whose strings hold nothing harmful: the same value, also when a terminal shows it. JSON escapes controls below U+0020 by itself. */
export const plainJson = (json: string): string =>
  json.replace(HARMFUL, (one) => (one === '\n' ? one : asEscapes(one)));

/** Cells that a text takes in a terminal: 2 for wide characters, 0 for combining marks. */
const width = (text: string): number => Bun.stringWidth(text);

/** The beginning of a text that fits into so many cells. */
export const clipped = (text: string, cells: number): string => {
  if (width(text) <= cells) return text;
  let kept = '';
  for (const one of text) {
    if (width(kept + one) > cells - 1) break;
    kept += one;
  }
  return `${kept}…`;
};

/**
 * Rows as aligned columns, two blanks apart; columns of numbers to the right. The first row is the head. Cells are made
 * harmless first, so colour comes from `paint`, which gets the cell as it is shown and its place.
 */
export const table = (
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  paint: (cell: string, row: number, column: number) => string = (cell) => cell,
): string => {
  const clean = rows.map((row) => row.map(plainText));
  const widths: number[] = [];
  for (const row of clean)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell));
  return clean
    .map((row, line) =>
      row
        .map((cell, at) => {
          const space = ' '.repeat((widths[at] ?? 0) - width(cell));
          const painted = paint(cell, line, at);
          return right.includes(at) ? space + painted : painted + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
};

export type Colour = 'red' | 'green' | 'yellow' | 'grey' | 'bold';
const CODES: Readonly<Record<Colour, [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  grey: [90, 39],
  bold: [1, 22],
};

/** Puts colour on a text. */
export type Paint = (colour: Colour, text: string) => string;

/** A painter: colours on a terminal that wants them, else the text as it is. */
export const painter =
  (enabled: boolean): Paint =>
  (colour, text) =>
    enabled ? `\u001b[${CODES[colour][0]}m${text}\u001b[${CODES[colour][1]}m` : text;

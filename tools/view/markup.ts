/** HTML that is safe by construction: what is put into a template is escaped unless it is markup already. Pure. */
import { plainText } from '../../shared/terminal.ts';

/** A piece of HTML. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

type Part = Markup | string | number | false | undefined | readonly Part[];

const textOf = (part: Part): string => {
  if (part === false || part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  // Control characters and marks that reorder text are shown as escapes, as in a terminal.
  return plainText(String(part)).replace(/[&<>"']/g, (one) => ENTITIES[one]!);
};

/** A template of HTML; texts and numbers in it are escaped, lists are put one after another, `false` is nothing. */
export const markup = (pieces: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(pieces.map((piece, at) => piece + (at < parts.length ? textOf(parts[at]) : '')).join(''));

/** A text of several lines, for a place that keeps them. */
export const textLines = (text: string): Markup => new Markup(text.split('\n').map(textOf).join('\n'));

/** JSON for a script element: nothing in it ends the element or opens a comment. */
export const inScript = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

/** Rows as a table, the head first; `right` are columns of numbers. The first cell of a row names it. */
export const htmlTable = (
  caption: string,
  rows: readonly (readonly (string | Markup)[])[],
  right: readonly number[] = [],
): Markup => {
  const [head = [], ...body] = rows;
  const side = (at: number) => (right.includes(at) ? markup` class="number"` : markup``);
  return markup`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head.map((one, at) => (one === '' ? markup`<td></td>` : markup`<th scope="col" ${side(at)}>${one}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${body.map(
          (row) =>
            markup`<tr>
              ${row.map((one, at) => (at === 0 ? markup`<th scope="row">${one}</th>` : markup`<td${side(at)}>${one}</td>`))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div> `;
};

import { describe, expect, test } from 'bun:test';
import { plainText } from './terminal.ts';
import { code, marked, markdownList, markdownTable } from './markdown.ts';

/** Bun's own reader of GitHub's Markdown. */
const html = (markdown: string): string => Bun.markdown.html(markdown, { autolinks: true });
const decoded = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
/** A text as a page shows it: blanks run together, and ends don't count. */
const shown = (text: string): string => plainText(text).replace(/\s+/g, ' ').trim();

const STRANGE = [
  '*bold* _it_ ~~gone~~ `code`',
  '<script>alert(1)</script> & &amp; &#42;',
  '[x](https://evil.example) ![i](x) <https://a.b>',
  'https://a.b/c?d=e www.evil.example user@example.com',
  '| a | b |',
  '# heading',
  '- list',
  '+ list',
  '1. list',
  '1) list',
  '      code',
  '> quote',
  '$x$ :tada: @user #12',
  'a\\|b\\',
  '\u001b[2J \r\n new line',
  '---',
  '```',
];

describe('foreign text', () => {
  test.each(STRANGE)('%j says what it says', (text) => {
    const inList = /^<ul>\n<li>([^<]*)<\/li>\n<\/ul>\n$/.exec(html(markdownList([text])))?.[1];
    expect(decoded(inList ?? 'no list')).toBe(shown(text));
    const inText = /^<p>([^<]*)<\/p>\n$/.exec(html(`${marked(text)}\n`))?.[1];
    expect(decoded(inText ?? 'no paragraph')).toBe(shown(text));
    const inCode = /^<p><code>([^<]*)<\/code>\.<\/p>\n$/.exec(html(`${code(text)}.\n`))?.[1];
    expect(shown(decoded(inCode ?? 'no code'))).toBe(shown(text));
    const table = html(
      markdownTable(
        [
          ['a', 'b'],
          [text, '2'],
        ],
        [1],
      ),
    );
    const cells = [...table.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => decoded(cell!));
    expect(cells).toEqual([shown(text), '2']);
  });

  test('of any kind', () => {
    const parts = [...'*_`[]()<>#|~&@$!:/\\-+1. ab\n', 'www.', 'http://', '&#', '://x.y'];
    let state = 7;
    const next = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    for (let at = 0; at < 3000; at++) {
      const text = Array.from({ length: 1 + next(12) }, () => parts[next(parts.length)]!).join('');
      if (shown(text) === '') continue;
      const found = /^<ul>\n<li>([^<]*)<\/li>\n<\/ul>\n$/.exec(html(markdownList([text])))?.[1];
      expect({ text, shown: decoded(found ?? '') }).toEqual({ text, shown: shown(text) });
    }
  });
});

test('a long list ends', () => {
  const list = markdownList(Array.from({ length: 100 }, (_, at) => `item ${at}`));
  expect(list.trimEnd().split('\n')).toHaveLength(31);
  expect(list).toEndWith('- and 70 more\n');
});

test('numbers stand to the right', () =>
  expect(
    markdownTable(
      [
        ['a', 'n'],
        ['x', '1'],
      ],
      [1],
    ),
  ).toBe('| a | n |\n| --- | ---: |\n| x | 1 |\n'));

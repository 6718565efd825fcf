import { describe, expect, test } from 'bun:test';
import { htmlTable, inScript, markup, textLines } from './markup.ts';

const HOSTILE = `</script><img src=x onerror="x">&'\u001b[31m\u202e\n<!--`;

describe('texts in a template', () => {
  test('are escaped, control characters too', () => {
    expect(markup`<p title="${HOSTILE}">${HOSTILE}</p>`.text).toBe(
      `<p title="${'&lt;/script&gt;&lt;img src=x onerror=&quot;x&quot;&gt;&amp;&#39;\\e[31m\\u202e\\n&lt;!--'}">${'&lt;/script&gt;&lt;img src=x onerror=&quot;x&quot;&gt;&amp;&#39;\\e[31m\\u202e\\n&lt;!--'}</p>`,
    );
  });

  test('markup is taken as it is, lists one after another, nothing for false', () => {
    const items = ['a', '<b>'].map((one) => markup`<li>${one}</li>`);
    expect(markup`<ul>${items}</ul>${false}${undefined}${0}`.text).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul>0',
    );
  });

  test('lines stay lines where a place keeps them', () => {
    expect(textLines('a\n<b>').text).toBe('a\n&lt;b&gt;');
  });
});

test('JSON in a script element ends nothing, and is the same JSON', () => {
  const { text } = inScript({ [HOSTILE]: [HOSTILE, '\u2028', 1] });
  expect(text).not.toMatch(/[<>&\u2028\u001b]/);
  expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE, '\u2028', 1] });
});

test('a table has a caption, headers for rows and columns, and can be reached', () => {
  const { text } = htmlTable(
    'Numbers',
    [
      ['', 'value'],
      ['warm', '1.5'],
    ],
    [1],
  );
  expect(text).toMatch(/role="region" aria-label="Numbers" tabindex="0"/);
  expect(text).toMatch(/<caption>\s*Numbers\s*<\/caption>/);
  expect(text.replace(/\s+/g, ' ')).toMatch(/<td><\/td><th scope="col" ?class="number">value<\/th>/);
  expect(text.replace(/\s+/g, ' ')).toMatch(/<th scope="row">warm<\/th> ?<td ?class="number">1.5<\/td>/);
});

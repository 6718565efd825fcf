/** Lines of JSON, screens, foreign texts. */
import { describe, expect, test } from 'bun:test';
import { quoted } from '../lib/agent/failure.ts';
import { holds, Lines, textAt } from '../lib/agent/rpc.ts';
import { Screen } from '../lib/agent/screen.ts';
import { contentOf, entriesOf } from '../lib/agent/session.ts';

describe('a line that is waited for', () => {
  test.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: { b: [1, 2], c: 3 } }, { a: { b: [1] } }, true],
    [{ a: { b: [2, 1] } }, { a: { b: [1] } }, false],
    [{ a: '1' }, { a: 1 }, false],
    [{ a: null }, { a: {} }, false],
    [{}, {}, true],
    [1, {}, false],
  ])('%j holds %j: %p', (value, wanted, is) => expect(holds(value, wanted)).toBe(is));

  test.each([
    [{ a: { b: 'x' } }, 'a.b', 'x'],
    [{ a: [5] }, 'a.0', '5'],
    [{ a: {} }, 'a.b', undefined],
    [null, 'a', undefined],
  ])('%j at %s', (value, path, text) => expect(textAt(value, path)).toBe(text!));

  test.each([1, 2, 3, 7, 1000])(
    'comes in parts of %i bytes, between talk, and with letters cut in two',
    async (size) => {
      const bytes = Buffer.from('talk\n{"id":1}\n{broken\n{"id":2,"text":"größer\\u2028"}\n{"id":3}');
      const lines = new Lines();
      const found = lines.until({ id: 2 });
      for (let from = 0; from < bytes.length; from += size) lines.take(bytes.subarray(from, from + size));
      expect(await found).toEqual({ id: 2, text: 'größer\u2028' });
      expect(lines.last).toContain('größer');
    },
  );
});

describe('a screen', () => {
  const screen = () => {
    const said: string[] = [];
    return { said, screen: new Screen(20, 4, (text) => said.push(text)) };
  };
  const write = (one: Screen, text: string) => one.write(Buffer.from(text), performance.now());

  test('is what its user sees, and tells when', async () => {
    const { screen: one } = screen();
    const shown = one.shows((text) => text.includes('hello'));
    const at = performance.now();
    write(one, '\u001b[2J\u001b[3;5Hhel');
    one.write(Buffer.from('lo\u001b[31m red'), at + 5);
    expect(await shown).toBe(at + 5);
    expect(one.text).toBe('\n\n    hello red\n');
    expect([one.frames, one.changed]).toEqual([2, at + 5]);
    one.close();
  });

  test('what changes nothing on it is no frame', async () => {
    const { screen: one } = screen();
    write(one, 'x');
    await one.shows((text) => text.startsWith('x'));
    write(one, '\u001b[31m\u001b[?25l');
    write(one, 'y');
    await one.shows((text) => text.startsWith('xy'));
    expect(one.frames).toBe(2);
    one.close();
  });

  test('is settled once it stays the same', async () => {
    const { screen: one } = screen();
    const settled = one.settled((text) => text.includes('done'), 60);
    write(one, 'working');
    await Bun.sleep(20);
    write(one, '\r\u001b[Kdone');
    const at = await settled;
    expect(at).toBe(one.changed!);
    expect(performance.now() - at).toBeGreaterThanOrEqual(59);
    one.close();
  });

  test('answers what programs ask a terminal', async () => {
    const { screen: one, said } = screen();
    write(one, '\u001b[6n\u001b]11;?\u0007\u001b[c-');
    await one.shows((text) => text.includes('-'));
    expect(said.join('')).toContain('\u001b[1;1R');
    expect(said.join('')).toContain('\u001b]11;rgb:1010/1010/1010\u001b\\');
    one.close();
  });

  test('has another size when that is asked for', async () => {
    const { screen: one } = screen();
    write(one, 'abcdefghij');
    await one.shows((text) => text.includes('j'));
    one.resize(5, 4);
    write(one, '!');
    await one.shows((text) => text.includes('!'));
    expect(one.text.split('\n')).toHaveLength(4);
    one.close();
  });
});

test.each([
  ['\u001b[31mred\u001b[0m and \u001b]0;title\u0007plain', 'red and plain'],
  ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['a\nb\tc\r\nd\u0085e', 'a b c d e'],
  ['\u202eevil\u200b', 'evil'],
  ['\u001bPq…\u001b\\x\u009b5m', 'x 5m'],
  ['', ''],
])('a foreign text: %j', (text, plain) => expect(quoted(text)).toBe(plain));

test('a long foreign text keeps its begin and its end', () => {
  const text = quoted(`begin ${'x'.repeat(1000)} end`);
  expect([
    text.startsWith('begin x'),
    text.includes(' … '),
    text.endsWith('x end'),
    text.length < 320,
  ]).toEqual([true, true, true, true]);
});

describe('a session', () => {
  test.each([
    ['context', 20_000, 40, 0],
    ['entries', 1000, 1000, 0],
    ['history', 1_000_000, 2000, 0],
    ['history', 3_000_000, 6003, 3],
  ] as const)('%s of %i: %i entries, %i compactions', (kind, size, entries, compactions) => {
    const all = [...entriesOf(kind, size)];
    expect([all.length, all.filter((one) => one.kind === 'compaction').length]).toEqual([
      entries,
      compactions,
    ]);
    expect(all.at(-1)).toMatchObject({ kind: 'answer', text: expect.stringContaining('HISTORY-ENDS-HERE') });
  });

  test('has about as many tokens as it is asked for', () => {
    const characters = [...entriesOf('context', 100_000)].reduce(
      (sum, one) => sum + ('text' in one ? one.text.length : 0),
      0,
    );
    expect(characters / 4 / 100_000).toBeGreaterThan(0.95);
    expect(characters / 4 / 100_000).toBeLessThan(1.05);
  });

  test('is the same each time, and another for another size', () => {
    expect(contentOf('entries', 100)).toBe(contentOf('entries', 100));
    expect(contentOf('entries', 100)).not.toBe(contentOf('entries', 104));
  });
});

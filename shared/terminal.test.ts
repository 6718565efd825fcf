import { describe, expect, test } from 'bun:test';
import { clipped, painter, plainJson, plainText, table } from './terminal.ts';

test.each([
  ['abc äöü 日本 👍', 'abc äöü 日本 👍'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[31mred\u001b[0m', '\\e[31mred\\e[0m'],
  ['\u0000\u007f\u009b', '\\u0000\\u007f\\u009b'],
  ['user\u202egnp.exe', 'user\\u202egnp.exe'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['\ud800x\udc00', '\\ud800x\\udc00'],
  ['a\u00adb\u2060c\u180e\ufff9', 'a\\u00adb\\u2060c\\u180e\\ufff9'],
  ['a\u{e0041}b', 'a\\udb40\\udc41b'],
])('foreign text %j is harmless', (given, shown) => expect(plainText(given)).toBe(shown));

test('JSON for terminals is the same value', () => {
  const value = { 'a\u009b31m': ['\u202e\u007f', 'ä👍\u{e0041}', '\u001b[2J\n'], b: 1 };
  for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    const plain = plainJson(json);
    expect(JSON.parse(plain)).toEqual(value);
    expect(plain.replaceAll('\n', '')).toBe(plainText(plain.replaceAll('\n', '')));
  }
});

describe('tables', () => {
  test('columns are aligned by cells, numbers to the right, without trailing blanks', () => {
    expect(
      table(
        [
          ['name', 'ms', ''],
          ['日本', '1.5', 'x'],
          ['e\u0301a', '12.25', ''],
        ],
        [1],
      ),
    ).toBe('name     ms\n日本    1.5  x\ne\u0301a    12.25\n');
  });

  test('cells are made harmless, paint is not', () => {
    const paint = painter(true);
    expect(table([['a'], ['\u001b[2J']], [], (cell, row) => (row === 1 ? paint('red', cell) : cell))).toBe(
      'a\n\u001b[31m\\e[2J\u001b[39m\n',
    );
    expect(painter(false)('bold', 'x')).toBe('x');
  });
});

test.each([
  ['round 3 of 12', 20, 'round 3 of 12'],
  ['round 3 of 12', 8, 'round 3…'],
  ['日本語', 4, '日…'],
  ['ab', 1, '…'],
])('%j clipped to %d cells', (text, cells, shown) => expect(clipped(text, cells)).toBe(shown));

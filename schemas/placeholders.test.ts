import { describe, expect, test } from 'bun:test';
import { fill, unknownIn, uses } from './placeholders.ts';

const VALUES = { root: '/r', dir: '/d/a/50', turns: 50, sample: 3 };

describe('placeholders', () => {
  const WORDS: [string, string, string[]][] = [
    ['plain', 'plain', []],
    ['{root}/bin/x', '/r/bin/x', []],
    ['--dir={dir}', '--dir=/d/a/50', []],
    ['{turns}-{sample}', '50-3', []],
    ['{{root}}', '{root}', []],
    ['{{{root}}}', '{/r}', []],
    ['a{{b', 'a{b', []],
    ['{{}}', '{}', []],
    ['$&{root}$1', '$&/r$1', []],
    ['{rot}', '{rot}', ['{rot}']],
    ['{}', '{}', ['{}']],
    ['{root', '{root', ['{']],
    ['a}b', 'a}b', ['}']],
    ['{ root }', '{ root }', ['{ root }']],
    // Braces of different pairs never meet.
    ['}{{}', '}{}', ['}', '}']],
    ['{{turns}{{}', '{turns}{}', ['}', '}']],
  ];
  for (const [word, filled, unknown] of WORDS)
    test(`'${word}'`, () => {
      expect(fill(word, VALUES)).toBe(filled);
      expect(unknownIn(word)).toEqual(unknown);
    });

  test('a value is not looked through again', () => {
    expect(fill('{root}{dir}', { root: '{dir}', dir: '{root}' })).toBe('{dir}{root}');
  });

  test('whether a word has a placeholder', () => {
    expect(uses('-x={root}/a', 'root')).toBe(true);
    expect(uses('{{root}}', 'root')).toBe(false);
    expect(uses('{root}', 'dir')).toBe(false);
  });
});

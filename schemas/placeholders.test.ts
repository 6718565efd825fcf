import { describe, expect, test } from 'bun:test';
import { fill, rootPathsIn, settledPath, unknownIn, uses } from './placeholders.ts';

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

  test.each<[string, string[]]>([
    ['{root}/lib/a.ts', ['lib/a.ts']],
    ['-wasm={root}/a.wasm', ['a.wasm']],
    ['--preload={root}/a.wasm:{root}/b.wasm', ['a.wasm', 'b.wasm']],
    ['{root}/a,{root}/b;{root}/c {root}/d', ['a', 'b', 'c', 'd']],
    [`cat "{root}/a" '{root}/b'`, ['a', 'b']],
    ['{root}/a:{dir}/x', ['a']],
    ['{root}/{turns}/{sample}', ['{turns}/{sample}']],
    ['{root}/', ['']],
    ['{root}', []],
    ['{{root}}/no', []],
    ['/abs', []],
  ])('the paths below the root in %p', (word, paths) => expect(rootPathsIn(word)).toEqual(paths));

  test.each<[string, { turns?: number }, string | undefined]>([
    ['lib/a.ts', {}, 'lib/a.ts'],
    ['a{{b}}', {}, 'a{b}'],
    ['bin/{turns}', {}, undefined],
    ['bin/{turns}', { turns: 50 }, 'bin/50'],
    ['a-{sample}', { turns: 50 }, undefined],
    ['{dir}', {}, undefined],
  ])('%p with %j is %p', (path, values, wanted) => expect(settledPath(path, values)).toBe(wanted!));
});

import { describe, expect, test } from 'bun:test';
import { examplesOf, shapeOf, withOutputs } from './examples.ts';

const text = [
  '# x',
  '```console',
  '$ echo a',
  'a',
  '$ printf \\',
  '  b',
  'b',
  '```',
  'then',
  '```sh',
  'not this',
  '```',
  '```console',
  '$ true',
  '```',
].join('\n');

describe('console blocks', () => {
  test('are found with their commands and outputs', () =>
    expect(examplesOf(text).map((one) => one.commands)).toEqual([
      [
        { command: 'echo a', printed: ['a'] },
        { command: 'printf \\\n  b', printed: ['b'] },
      ],
      [{ command: 'true', printed: [] }],
    ]));

  test('take new outputs in place', () => {
    const written = withOutputs(text, [[['A', 'A'], []], [['t']]]);
    expect(examplesOf(written).map((one) => one.commands.map((each) => each.printed))).toEqual([
      [['A', 'A'], []],
      [['t']],
    ]);
    expect(withOutputs(written, [[['a'], ['b']], [[]]])).toBe(text);
  });

  test('a block without a command is refused', () =>
    expect(() => examplesOf('```console\nx\n```')).toThrow('line 2'));
});

test.each([
  ['warm  11.5 ms   win', 'warm 9.25 ms lose', true],
  ['out/k8sbench-cmp-sort-20260102t030405z', 'out/k8sbench-cmp-sort-20270102t030405z', true],
  ['new is 4.1 % faster (95 %: …)\n\njudged', "can't tell: new looks 2.0× slower (…)\n\njudged", true],
  ["judged\ndoubt 'drift': it drifts\n", 'judged', true],
  ["a\n  the tracker says 'win' on warm\nb", 'a\nb', true],
  ['new is 4.1 % faster\n\njudged', 'judged', false],
  ['judged', 'refused', false],
  ['candidate 3 ms', 'reference 3 ms', false],
])('shape of %p and %p', (a, b, same) => expect(shapeOf(a) === shapeOf(b)).toBe(same));

import { describe, expect, test } from 'bun:test';
import { comparable, examplesOf, shapeOf, withOutputs } from './examples.ts';

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

  test('are told apart by their chapters', () => {
    const two = '## One\n```console\n$ a\n```\n## Two\n```console\n$ b\nold\n```';
    expect(examplesOf(two).map((one) => one.chapter)).toEqual(['One', 'Two']);
    expect(withOutputs(two, [[['new']]], (one) => one.chapter === 'Two')).toBe(two.replace('old', 'new'));
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
  ["warm    can't tell  1.010", 'warm  faster  0.412', true],
  ['cpuWarm  shown  1.010', 'cpuWarm  faster  1.010', false],
  ['new is 4.1 % faster\n\njudged', 'judged', false],
  ['judged', 'refused', false],
  ['candidate 3 ms', 'reference 3 ms', false],
])('shape of %p and %p', (a, b, same) => expect(shapeOf(a) === shapeOf(b)).toBe(same));

test.each([
  ['a\nrun-session: x\njudged 5', 'a\nrun-session: x\njudged 6', true],
  ['a\nrun-session: 2026-01-02T03:04:05.678Z 1 of 3\nb', 'a\nb', true],
  ['a\nrun-session: x\nnot judged\n', 'a\nrun-session: y\njudged', true],
  ['a\nrun-session: x\nnot judged\n', 'b\nrun-session: y\njudged', false],
  [
    'a\nrun-session: x\ncalibrated: over the limit\n  what to do: y',
    'a\nrun-session: y\ncalibrated: within the limit',
    true,
  ],
  ['warm 3 win (p95 lose)', 'warm 4 tie', true],
  ["not judged\n  'a' at 3 turns: cpu varies too much", 'not judged\n', true],
])('%j and %j say the same: %p', (now, written, same) => {
  const [found, wanted] = comparable(now, written);
  expect(found === wanted).toBe(same);
});

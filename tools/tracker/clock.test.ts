import { expect, test } from 'bun:test';
import { clockWarning } from './clock.ts';
import type { History } from './history.ts';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');
const HOUR = 3_600_000;
const history = (...lines: [run: string, at: number][]): History => ({
  path: '/t',
  shown: 't.jsonl',
  entries: lines.map(([run, at]) => ({ at, rule: 'r', turns: 1, run, number: 1, offset: 0, length: 1 })),
  broken: [],
  lines: lines.length,
});

test.each<[string, History, string | undefined]>([
  ['an empty history', history(), undefined],
  ['lines of before', history(['a', NOW - HOUR], ['own', NOW - 1]), undefined],
  ['a line of this very moment', history(['own', NOW]), undefined],
  ['another machine, a little ahead', history(['a', NOW + 1000]), undefined],
  [
    'a clock set back',
    history(['a', NOW + HOUR], ['b', NOW - HOUR]),
    "'t.jsonl' has lines up to 2026-01-02T04:04:05.000Z, and this machine's clock says 2026-01-02T03:04:05.000Z: lines count by their time; check the clock",
  ],
])('%s', (_, found, warning) => expect(clockWarning([history(), found], 'own', NOW)).toBe(warning));

test('a line of the run itself from later is an error: the new one would not count', () => {
  expect(() => clockWarning([history(['own', NOW + 1])], 'own', NOW)).toThrow(
    "'t.jsonl' has a line of this run from 2026-01-02T03:04:05.001Z, and this machine's clock says 2026-01-02T03:04:05.000Z: a new line would not count; set the clock",
  );
});

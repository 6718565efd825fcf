import { expect, test } from 'bun:test';
import { awakeClock } from './awake.ts';

test.each([
  ['ticks that come in time count in full', [0, 900, 1800, 2700], 2700],
  ['a sleep counts as one short look', [0, 1000, 601_000, 602_000], 4000],
  ['asleep at the end', [0, 1000, 601_000], 3000],
])('%s', (_, beats, expected) => {
  let at = 0;
  const clock = awakeClock(() => at);
  for (const one of beats.slice(0, -1)) {
    at = one;
    clock.beat();
  }
  const before = clock.now();
  at = beats.at(-1)!;
  expect(clock.now()).toBe(expected);
  clock.beat();
  expect([clock.now(), before <= expected]).toEqual([expected, true]);
});

import { describe, expect, test } from 'bun:test';
import type { Verdict } from '../schemas/analysis.ts';
import { referenceKey, verdictOf } from './verdict.ts';

describe('a verdict at its boundaries', () => {
  test.each<[number, number, Verdict]>([
    [100, 100, 'tie'],
    [103, 100, 'tie'],
    [103.0000001, 100, 'lose'],
    [97, 100, 'tie'],
    [96.9999999, 100, 'slightly better'],
    [100, 130, 'win'],
    [100, 129.9999, 'slightly better'],
    [1e-9, 1, 'win'],
    [1, 1e-9, 'lose'],
  ])('%d against %d', (candidate, reference, verdict) => {
    expect(verdictOf(candidate, reference)).toBe(verdict);
    expect(verdictOf(reference, candidate, 'higher')).toBe(verdict);
  });

  test('exactly one of the four rules fits everywhere', () => {
    for (let at = 1; at < 400; at++) {
      const [a, b] = [at / 100, 2];
      const expected: Verdict =
        a > 1.03 * b ? 'lose' : a * 1.3 <= b * (1 + 1e-12) ? 'win' : a < 0.97 * b ? 'slightly better' : 'tie';
      expect([a, verdictOf(a, b)]).toEqual([a, expected]);
    }
  });
});

test.each([
  ['warm', 'piWarm'],
  ['cpuWarm', 'piCpuWarm'],
  ['retainedMB', 'piRetainedMB'],
])('the reference of %s is %s', (key, reference) => expect(referenceKey(key)).toBe(reference));

import { expect, test } from 'bun:test';
import { logRatio, ratioOf } from './pairs.ts';

test('a logarithm of a ratio is finite however far apart the two are', () => {
  const numbers = [Number.MIN_VALUE, 1e-300, 0.5, 1, 3, 1e18, Number.MAX_VALUE];
  for (const a of numbers)
    for (const b of numbers) {
      const found = logRatio(a, b);
      expect(Number.isFinite(found)).toBe(true);
      expect(found).toBeCloseTo(Math.log(a) - Math.log(b), 3);
    }
});

test.each([
  [0, 1],
  [Math.log(2), 2],
  [-Infinity, null],
  [Infinity, null],
  [NaN, null],
  // Beyond all numbers.
  [-800, null],
  [800, null],
])('the ratio of %p is %p', (logarithm, ratio) =>
  ratio === null ? expect(ratioOf(logarithm)).toBeNull() : expect(ratioOf(logarithm)).toBeCloseTo(ratio, 12),
);

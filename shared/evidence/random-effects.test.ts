import { expect, test } from 'bun:test';
import { mean, standardDeviation } from '../statistics.ts';
import { studentQuantile } from './distributions.ts';
import { pooled } from './random-effects.ts';

const effects = [0.02, 0.05, 0.01, 0.04, 0.03, 0.07];

test('sessions of equal noise: Student’s t of the session effects, whatever that noise', () => {
  const half = (studentQuantile(0.975, 5) * standardDeviation(effects)) / Math.sqrt(6);
  for (const noise of [1e-6, 1e-4, 1]) {
    const found = pooled(
      effects,
      effects.map(() => noise),
      0.05,
    );
    expect(found.estimate).toBeCloseTo(mean(effects), 12);
    expect(found.high - found.estimate).toBeCloseTo(half, 12);
  }
});

test('without noise of their own the sessions’ variance is the variance between them', () => {
  const found = pooled(
    effects,
    effects.map(() => 0),
    0.05,
  );
  expect(found.between).toBeCloseTo(standardDeviation(effects) ** 2, 9);
});

test('noise that explains the differences leaves nothing between', () =>
  expect(
    pooled(
      effects,
      effects.map(() => 0.01),
      0.05,
    ).between,
  ).toBe(0));

test('mirrored effects mirror the result, and p stays', () => {
  const variances = [1, 2, 3, 4, 5, 6].map((one) => one * 1e-4);
  const [there, back] = [effects, effects.map((one) => -one)].map((all) => pooled(all, variances, 0.05));
  expect(back!.low).toBeCloseTo(-there!.high, 12);
  expect(back!.p).toBeCloseTo(there!.p, 12);
});

test.each([
  [[0, 0, 0], 1],
  [[1, 1, 1], 0],
])('sessions %p that all agree: p = %d', (all, p) => {
  const found = pooled(all, [0, 0, 0], 0.05);
  expect(found).toMatchObject({ estimate: all[0], low: all[0], high: all[0], p });
});

test('one session is no block design', () => expect(() => pooled([1], [1], 0.05)).toThrow('two'));

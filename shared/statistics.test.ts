import { describe, expect, test } from 'bun:test';
import {
  correlation,
  mean,
  median,
  quantile,
  quantileOfSorted,
  roundHalfUp,
  roundTo,
  standardDeviation,
} from './statistics.ts';

/** A small generator, so that a failure can be repeated. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
};

/** The definition, word by word: sort, find the rank k = (n − 1)·p, go linearly between its neighbours. */
const quantileTwin = (values: readonly number[], p: number): number => {
  const order = values.toSorted((a, b) => a - b);
  const k = (order.length - 1) * p;
  const whole = Math.floor(k);
  const part = k - whole;
  return part === 0 ? order[whole]! : order[whole]! + part * (order[whole + 1]! - order[whole]!);
};

/** The decimal text in whole numbers: no binary fraction takes part. */
const roundingTwin = (value: number, digits: number): number => {
  const [whole = '0', part = ''] = Math.abs(value).toFixed(12).split('.');
  const all = BigInt(whole + part);
  const unit = 10n ** BigInt(12 - digits);
  const [below, rest] = [all / unit, all % unit];
  const up = value < 0 ? 2n * rest > unit : 2n * rest >= unit;
  const size = Number(up ? below + 1n : below) / 10 ** digits;
  return value < 0 ? 0 - size : size;
};

describe('quantiles', () => {
  test('agree with their definition', () => {
    const next = numbers(1);
    for (let run = 0; run < 500; run++) {
      const values = Array.from(
        { length: 1 + Math.floor(next() * 20) },
        () => Math.round(next() * 40) / 4 - 3,
      );
      for (const p of [0, 0.05, 0.25, 0.5, 0.95, 0.99, 1, next()])
        expect(quantile(values, p)).toBeCloseTo(quantileTwin(values, p), 12);
    }
  });

  test.each([
    [[3], 0.95, 3],
    [[1, 2], 0.5, 1.5],
    [[4, 1, 3, 2], 0.5, 2.5],
    [[1, 2, 3, 4, 5], 0.95, 4.8],
    [[-5, -1], 0, -5],
    [[-5, -1], 1, -1],
  ])('%j at %d is %d', (values, p, expected) => expect(quantile(values, p)).toBeCloseTo(expected, 12));

  test('leave the list as it is; typed arrays will do; nothing has none', () => {
    const values = [3, 1, 2];
    expect(median(values)).toBe(2);
    expect(values).toEqual([3, 1, 2]);
    expect(quantileOfSorted(new Float64Array([1, 3]), 0.5)).toBe(2);
    expect(() => median([])).toThrow(RangeError);
    expect(() => mean([])).toThrow(RangeError);
  });
});

describe('spread', () => {
  test('agrees with the sum over pairs: var = Σ(a − b)² / 2n(n − 1)', () => {
    const next = numbers(2);
    for (let run = 0; run < 200; run++) {
      const values = Array.from({ length: 2 + Math.floor(next() * 12) }, () => next() * 100);
      let sum = 0;
      for (const a of values) for (const b of values) sum += (a - b) ** 2;
      const n = values.length;
      expect(standardDeviation(values)).toBeCloseTo(Math.sqrt(sum / (2 * n * (n - 1))), 9);
    }
  });

  test('one value has none', () => expect(standardDeviation([7])).toBe(0));

  test.each<[number[], number[], number | null]>([
    [[1, 2, 3], [2, 4, 6], 1],
    [[1, 2, 3], [3, 2, 1], -1],
    [[1, 2, 3, 4], [1, -1, -1, 1], 0],
    [[1, 1, 1], [1, 2, 3], null],
    [[1, 2], [1, 2], null],
    [[1, 2, 3], [1, 2], null],
  ])('correlation of %j and %j is %p', (xs, ys, expected) => {
    const found = correlation(xs, ys);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(expected, 12);
  });
});

describe('rounding', () => {
  test.each([
    [0.25, 0.3],
    [0.35, 0.4],
    [-0.25, -0.2],
    [-0.35, -0.3],
    [-0.05, 0],
    [-0.04, 0],
    [-0.06, -0.1],
    [1.05, 1.1],
    [8.35, 8.4],
    [354.55, 354.6],
    [0.049999999999999996, 0.1],
    [1e21, 1e21],
    [1e-9, 0],
    [123456789.05, 123456789.1],
    [194.34999999999997, 194.4],
    [-194.34999999999997, -194.3],
    [194.3499999999, 194.3],
  ])('%d to one decimal is %d', (value, expected) => expect(roundTo(value, 1)).toBe(expected));

  test.each([
    [1.0005, 1.001],
    [0.5015, 0.502],
    [-1.0005, -1],
    [20.05946, 20.059],
  ])('%d to three decimals is %d', (value, expected) => expect(roundTo(value, 3)).toBe(expected));

  test.each([
    [0.5, 1],
    [-0.5, 0],
    [-1.5, -1],
    [0.49999999999999994, 0],
    [-0, 0],
    [2.5, 3],
  ])('%d to a whole number is %d, never -0', (value, expected) =>
    expect(Object.is(roundHalfUp(value), expected)).toBe(true),
  );

  test('the median of two written values rounds as in whole tenths', () => {
    const next = numbers(11);
    for (let i = 0; i < 20_000; i++) {
      const [a, b] = [Math.floor(next() * 20_000), Math.floor(next() * 20_000)];
      const written = roundTo(median([a / 10, b / 10]), 1);
      expect([a, b, written]).toEqual([a, b, Math.floor((a + b + 1) / 2) / 10]);
    }
  });

  test('agrees with decimals in whole numbers, halves toward +∞', () => {
    const next = numbers(3);
    for (let run = 0; run < 20_000; run++) {
      const digits = run % 2 === 0 ? 1 : 3;
      const value = Number(((next() - 0.5) * 1000).toFixed(1 + Math.floor(next() * 4)));
      expect([value, digits, roundTo(value, digits)]).toEqual([
        value,
        digits,
        roundingTwin(value, digits) + 0,
      ]);
    }
  });
});

import { describe, expect, test } from 'bun:test';
import { estimatesOf } from './estimates.ts';
import type { Metric } from './input.ts';
import type { Pair } from './pairs.ts';
import { generator } from './random.ts';

const metric: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };
const random = generator(4);
const pairOf = (differences: readonly number[], target = 'a'): Pair => ({
  target,
  turns: 1,
  metric,
  differences: Float64Array.from(differences),
  referenceMedian: 10,
});
const some = (n: number, shift = 0): number[] =>
  Array.from({ length: n }, () => shift + random() + random() - 1);

describe('swapping candidate and reference mirrors everything', () => {
  test.each([6, 12, 20, 70])('%d rounds', (n) => {
    const family = [some(n, 0.2), some(n)];
    const there = estimatesOf(
      family.map((one) => pairOf(one)),
      0.05,
      1,
    );
    const back = estimatesOf(
      family.map((one) => pairOf(one.map((each) => -each))),
      0.05,
      1,
    );
    for (const [at, one] of there.entries()) {
      expect(back[at]!.estimate).toBeCloseTo(-one.estimate, 12);
      expect(back[at]!.low).toBeCloseTo(-one.high, 12);
      expect(back[at]!.high).toBeCloseTo(-one.low, 12);
      // Drawn patterns are mirrored too, apart from the one observed.
      expect(Math.abs(back[at]!.p - one.p)).toBeLessThan(2e-4);
    }
  });
});

test('stretching the scale stretches estimate and interval, and leaves p', () => {
  const values = some(12, 0.1);
  const [one] = estimatesOf([pairOf(values)], 0.05, 1);
  const [wide] = estimatesOf([pairOf(values.map((each) => 8 * each))], 0.05, 1);
  expect([wide!.estimate, wide!.low, wide!.high].map((each) => each / 8)).toEqual([
    one!.estimate,
    one!.low,
    one!.high,
  ]);
  expect(wide!.p).toBe(one!.p);
});

test('p ≤ level exactly where the interval leaves 0 out, alone and in a family', () => {
  for (let at = 0; at < 40; at++) {
    const n = 6 + (at % 12);
    const family = [0, 0.2, 0.4].map((shift) => pairOf(some(n, shift)));
    for (const pairs of [family, family.slice(0, 1)])
      for (const one of estimatesOf(pairs, 0.05, at)) expect(one.p <= 0.05).toBe(one.low > 0 || one.high < 0);
  }
});

test('the same with ties and differences of nothing, alone and in a family', () => {
  const coarse = (n: number, shift: number): number[] =>
    Array.from({ length: n }, () => Math.round(3 * (shift + random() + random() - 1)));
  let excluded = 0;
  for (let at = 0; at < 200; at++) {
    const n = 5 + (at % 16);
    const family = [0, 0.3, 0.6].map((shift) => pairOf(coarse(n, shift)));
    for (const pairs of [family, family.slice(1, 2)])
      for (const one of estimatesOf(pairs, 0.05, at)) {
        expect(one.p <= 0.05).toBe(one.low > 0 || one.high < 0);
        if (one.p <= 0.05) excluded++;
        expect(one.estimate).toBeGreaterThanOrEqual(one.low);
        expect(one.estimate).toBeLessThanOrEqual(one.high);
      }
  }
  expect(excluded).toBeGreaterThan(50);
});

test('the same with whole numbers whose test of nothing has its ties there, and at every planned look', () => {
  const draw = generator(5);
  const [disagreed, refused] = [[] as number[][], [] as number[]];
  for (let at = 0; at < 1200; at++) {
    const rounds = 6 + Math.floor(draw() * 20);
    const values = Array.from({ length: rounds }, () => Math.round((draw() - 0.3) * 6));
    for (const looks of at % 3 === 0 ? [[], [rounds, rounds + 3, 2 * rounds]] : [[]]) {
      const [one] = estimatesOf([pairOf(values)], 0.05, 1, looks);
      if (one!.p <= 0.05 !== (one!.low > 0 || one!.high < 0)) disagreed.push(values);
      // As a ratio, too: an end that is apart from 0 is apart from 1.
      expect(Math.exp(one!.low) > 1 || Math.exp(one!.high) < 1).toBe(one!.p <= 0.05);
      expect(one!.estimate >= one!.low && one!.estimate <= one!.high).toBe(true);
      if (one!.p <= 0.05) refused.push(one!.p);
    }
  }
  expect(disagreed).toEqual([]);
  expect(refused.length).toBeGreaterThan(300);
});

test('a family costs: p grows, intervals widen, never the other way', () => {
  for (let at = 0; at < 20; at++) {
    const pairs = [0, 0.1, 0.3].map((shift) => pairOf(some(12, shift)));
    for (const [member, one] of estimatesOf(pairs, 0.05, 1).entries()) {
      const [alone] = estimatesOf([pairs[member]!], 0.05, 1);
      expect(one.p).toBeGreaterThanOrEqual(alone!.p - 1e-12);
      expect(one.low).toBeLessThanOrEqual(alone!.low);
      expect(one.high).toBeGreaterThanOrEqual(alone!.high);
    }
  }
});

test('the same comparison twice costs nothing', () => {
  const values = some(12, 0.2);
  const [alone] = estimatesOf([pairOf(values)], 0.05, 1);
  const [twice] = estimatesOf([pairOf(values), pairOf(values, 'b')], 0.05, 1);
  expect(twice!.p).toBeCloseTo(alone!.p, 12);
  expect([twice!.low, twice!.high]).toEqual([alone!.low, alone!.high]);
});

test('rounds without a value are left out', () => {
  const values = some(8, 0.3);
  const [whole] = estimatesOf([pairOf(values)], 0.05, 1);
  const [holed] = estimatesOf([pairOf([NaN, ...values, NaN])], 0.05, 1);
  expect({ ...holed!, pair: whole!.pair }).toEqual(whole!);
});

test('a planned look has the wider, repeated interval; the end of the plan has spent everything', () => {
  const values = some(12, 0.5);
  const [fixed] = estimatesOf([pairOf(values.slice(0, 9))], 0.05, 1);
  const [look] = estimatesOf([pairOf(values.slice(0, 9))], 0.05, 1, [6, 9, 12]);
  expect(look!.high - look!.low).toBeGreaterThan(fixed!.high - fixed!.low);
  const [early] = estimatesOf([pairOf(values.slice(0, 6))], 0.05, 1, [6, 9, 12]);
  expect([early!.low, early!.high]).toEqual([
    Math.min(...values.slice(0, 6)),
    Math.max(...values.slice(0, 6)),
  ]);
});

test('three rounds bound nothing', () => {
  const [one] = estimatesOf([pairOf([1, 2, 3])], 0.05, 1);
  expect(one).toMatchObject({
    estimate: 2,
    low: -Infinity,
    high: Infinity,
    p: 0.25,
    smallestP: 0.25,
    ownLevel: 0,
  });
});

test('counts that are always equal have an interval of nothing', () => {
  const [none, all] = [0, 0.05].map(
    (value) => estimatesOf([pairOf(Array.from({ length: 12 }, () => value))], 0.05, 1)[0]!,
  );
  expect(none).toMatchObject({ estimate: 0, low: 0, high: 0, p: 1 });
  expect(all).toMatchObject({ estimate: 0.05, low: 0.05, high: 0.05, p: 2 / 4096 });
});

test('no comparisons, no estimates', () => expect(estimatesOf([], 0.05, 1)).toEqual([]));

test('many rounds of one comparison: the normal approximation says what drawn sign flips say', () => {
  for (const shift of [0, 0.02, 0.05]) {
    const pair = pairOf(some(120, shift));
    const [alone] = estimatesOf([pair], 0.05, 1);
    // A family of twins is drawn, and has the same largest statistic as one of them.
    const [drawn] = estimatesOf([pair, { ...pair, target: 'b' }], 0.05, 1);
    expect(alone!.estimate).toBe(drawn!.estimate);
    expect(Math.abs(alone!.p - drawn!.p)).toBeLessThan(0.02);
    expect(alone!.low).toBeCloseTo(drawn!.low, 2);
    expect(alone!.high).toBeCloseTo(drawn!.high, 2);
    expect(alone!.smallestP).toBeLessThan(1e-30);
  }
});

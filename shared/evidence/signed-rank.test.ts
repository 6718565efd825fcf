import { describe, expect, test } from 'bun:test';
import { generator } from './random.ts';
import { type SignedRanks, signedRanks } from './ranks.ts';
import { sortedCopy } from '../statistics.ts';
import {
  attainedLevel,
  exactTest,
  intervalOf,
  signedRankNull,
  signedRankTail,
  smallestReachable,
} from './signed-rank.ts';

/** Every sign pattern of n rounds. */
const patterns = (n: number): number[][] =>
  Array.from({ length: 2 ** n }, (_, bits) =>
    Array.from({ length: n }, (__, at) => ((bits >> at) & 1 ? 1 : -1)),
  );

/** |Σ ±rank| of every pattern. */
const slowNull = ({ sizes }: SignedRanks): number[] =>
  patterns(sizes.length).map((signs) => Math.abs(sizes.reduce((sum, one, at) => sum + signs[at]! * one, 0)));

const slowP = (ranks: SignedRanks): number => {
  const observed = Math.abs(ranks.signed.reduce((sum, one) => sum + one, 0));
  const all = slowNull(ranks);
  return all.filter((one) => one >= observed - 1e-9).length / all.length;
};

const random = generator(2);
const some = (n: number, ties: boolean): number[] =>
  Array.from({ length: n }, () => (ties ? Math.round(4 * random() - 1.5) : random() - 0.3));

test('the null distribution counts the patterns', () => {
  for (let n = 1; n <= 8; n++) {
    const plus = patterns(n).map((signs) => signs.reduce((sum, one, at) => sum + (one > 0 ? at + 1 : 0), 0));
    const slow = Array.from(
      { length: (n * (n + 1)) / 2 + 1 },
      (_, sum) => plus.filter((one) => one === sum).length / 2 ** n,
    );
    expect(Array.from(signedRankNull(n))).toEqual(slow);
  }
});

test('p is the share of patterns as extreme, with ties and zeros', () => {
  for (let n = 1; n <= 9; n++)
    for (const ties of [false, true]) {
      const ranks = signedRanks(some(n, ties));
      expect(exactTest(ranks, 0.05).p).toBeCloseTo(slowP(ranks), 12);
    }
});

test('p ≤ level exactly where the statistic is beyond the critical value, and the level is kept', () => {
  for (let n = 3; n <= 9; n++)
    for (const level of [0.3, 0.1, 0.05, 0.01])
      for (const ties of [false, true]) {
        const ranks = signedRanks(some(n, ties));
        const norm = Math.sqrt(ranks.sizes.reduce((sum, one) => sum + one * one, 0));
        const { critical, p } = exactTest(ranks, level);
        const observed = Math.abs(ranks.signed.reduce((sum, one) => sum + one, 0)) / norm;
        expect(p <= level).toBe(observed > critical + 1e-9);
        const beyond = slowNull(ranks).filter((one) => one / norm > critical + 1e-9).length / 2 ** n;
        expect(beyond).toBeLessThanOrEqual(level);
      }
});

test('the interval holds exactly the values that the test does not refuse', () => {
  for (let n = 4; n <= 9; n++) {
    const values = some(n, false);
    const { critical } = exactTest(signedRanks(values), 0.1);
    const [low, high] = intervalOf(sortedCopy(values), critical);
    for (let at = 0; at < 60; at++) {
      const value = 3 * random() - 1.5;
      const kept = slowP(signedRanks(values.map((one) => one - value))) > 0.1;
      expect(kept).toBe(value > low && value < high);
    }
  }
});

describe('what few rounds can give', () => {
  test.each([
    [3, 0.25],
    [5, 0.0625],
    [6, 0.03125],
    [12, 2 / 4096],
  ])('%d rounds: not below %d', (n, p) => {
    expect(smallestReachable(n)).toBe(p);
    expect(exactTest(signedRanks(Array.from({ length: n }, (_, at) => at + 1)), 0.05)).toMatchObject({
      p,
      smallestP: p,
    });
    expect(signedRankTail(n, 99)).toBe(0);
  });
  test.each([
    [5, 0.05, 0],
    [6, 0.05, 2 / 64],
    [12, 0.05, 0.04248046875],
    [100, 0.05, 0.05],
  ])('%d rounds at level %d: %d', (n, level, attained) =>
    expect(attainedLevel(n, level)).toBeCloseTo(attained, 12),
  );
  test('no interval', () =>
    expect(intervalOf(sortedCopy([1, 2, 3]), exactTest(signedRanks([1, 2, 3]), 0.05).critical)).toEqual([
      -Infinity,
      Infinity,
    ]));
});

test('nothing differs: p is 1, and the interval is 0', () => {
  const { critical, p } = exactTest(signedRanks([0, 0, 0, 0, 0, 0]), 0.05);
  expect(p).toBe(1);
  expect(intervalOf(sortedCopy([0, 0, 0, 0, 0, 0]), critical)).toEqual([0, 0]);
});

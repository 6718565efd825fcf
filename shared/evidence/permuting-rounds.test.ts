import { describe, expect, test } from 'bun:test';
import {
  driftStatistic,
  firstRoundsP,
  type Grouped,
  groupMeans,
  groupStatistic,
  permutationP,
  rankScores,
  theilSen,
  togetherStatistic,
  wanderStatistic,
} from './permuting-rounds.ts';
import { generator } from './random.ts';

const inOrder = (n: number): Int32Array => Int32Array.from({ length: n }, (_, at) => at);

/** Every order of n rounds. */
const orders = (n: number): number[][] => {
  const all: number[][] = [];
  const extend = (order: number[], rest: number[]): void => {
    if (rest.length === 0) all.push(order);
    for (const one of rest)
      extend(
        [...order, one],
        rest.filter((other) => other !== one),
      );
  };
  extend([], Array.from(inOrder(n)));
  return all;
};

test('p is the share of orders, within the error of a draw', () => {
  const scores = [rankScores([1, 2, 4, 3, 5, 6, 7]), rankScores([5, 1, 2, 6, 4, 7, 3])];
  const statistic = driftStatistic(scores);
  const bound = statistic(inOrder(7)) - 1e-12;
  const all = orders(7);
  const exact = all.filter((one) => statistic(Int32Array.from(one)) >= bound).length / all.length;
  expect(Math.abs(permutationP(7, statistic, generator(1)) - exact)).toBeLessThan(
    4 * Math.sqrt(exact / 1999) + 1e-3,
  );
});

test('p is never 0, and stops early where it is large', () => {
  expect(permutationP(12, driftStatistic([rankScores(inOrder(12))]), generator(1))).toBe(1 / 2000);
  let asked = 0;
  const constant = (): number => {
    asked++;
    return 0;
  };
  permutationP(12, constant, generator(1));
  expect(asked).toBeLessThan(50);
});

test('scores: centred, of length 1, absent rounds and constant series are 0', () => {
  const scores = rankScores([3, NaN, 1, 2]);
  expect(scores[1]).toBe(0);
  expect(scores.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 12);
  expect(scores.reduce((sum, one) => sum + one * one, 0)).toBeCloseTo(1, 12);
  expect(Array.from(rankScores([2, 2, 2]))).toEqual([0, 0, 0]);
});

/** Its largest value over all orders of eight rounds that keep the last. */
const largestOf = (statistic: (order: Int32Array) => number): number =>
  Math.max(...orders(7).map((one) => statistic(Int32Array.from([...one, 7]))));

describe('each statistic is largest for what it looks for', () => {
  const n = 8;
  const rising = rankScores(inOrder(n));
  test.each<[string, (order: Int32Array) => number]>([
    ['drift', driftStatistic([rising])],
    ['clock', togetherStatistic([[rising, rising]], 1)],
    ['clock, the other way', togetherStatistic([[rising, rising.map((one) => -one)]], -1)],
    [
      'groups',
      groupStatistic([
        {
          values: Float64Array.from([1, 1, 1, 1, 2, 2, 2, 2]),
          groups: Int32Array.from([0, 0, 0, 0, 1, 1, 1, 1]),
          count: 2,
        },
      ]),
    ],
  ])('%s', (_, statistic) => expect(statistic(inOrder(n))).toBeCloseTo(largestOf(statistic), 12));
});

test('wandering: a slow wave is alike among neighbours as few orders are', () => {
  const statistic = wanderStatistic([rankScores([1, 2, 3, 4, 5, 6, 7])]);
  const bound = statistic(inOrder(7)) - 1e-12;
  const all = orders(7);
  expect(all.filter((one) => statistic(Int32Array.from(one)) >= bound).length / all.length).toBeLessThan(
    0.02,
  );
});

describe('warm-up', () => {
  test('the share of choices of rounds that stand as high', () => {
    const scores = [rankScores([9, 7, 1, 2, 8, 3, 4]), rankScores([5, 6, 2, 1, 3, 7, 4])];
    const height = (chosen: number[]): number =>
      chosen.reduce((sum, at) => sum + scores[0]![at]! + scores[1]![at]!, 0);
    const all = orders(7);
    const slow = all.filter((one) => height(one.slice(0, 2)) >= height([0, 1]) - 1e-12).length / all.length;
    expect(firstRoundsP(scores, 7, 2, generator(1))).toBeCloseTo(slow, 12);
  });
  test('many rounds are drawn', () => {
    const falling = rankScores(inOrder(60).map((one) => -one));
    expect(firstRoundsP([falling], 60, 15, generator(1))).toBe(1 / 2000);
  });
});

describe('groups', () => {
  const grouped: Grouped = {
    values: Float64Array.from([1, 3, 10, 12, NaN, 50]),
    groups: Int32Array.from([0, 0, 1, 1, 1, 2]),
    count: 3,
  };
  test('means of groups with two values or more', () => expect(groupMeans(grouped)).toEqual([2, 11, null]));
  test('the share between groups, by its definition', () => {
    const two: Grouped = {
      values: Float64Array.from([1, 3, 10, 12]),
      groups: Int32Array.from([0, 0, 1, 1]),
      count: 2,
    };
    const between = 2 * (2 - 6.5) ** 2 + 2 * (11 - 6.5) ** 2;
    expect(groupStatistic([two])(inOrder(4))).toBeCloseTo(between / (between + 4), 12);
  });
  test('a series that never changes has none', () =>
    expect(
      groupStatistic([
        { values: Float64Array.from([5, 5, 5]), groups: Int32Array.from([0, 1, 0]), count: 2 },
      ])(inOrder(3)),
    ).toBe(0));
});

test('Theil–Sen: the median slope of all pairs; one point has none', () => {
  expect(theilSen([0, 1, 2, 3], [0, 2, 4, 100])).toBeCloseTo((2 + 100 / 3) / 2, 12);
  expect(theilSen([0, 1, 2, 3, 4], [1, 1.5, 2, 2.5, 3])).toBe(0.5);
  expect(theilSen([1], [1])).toBe(0);
  // Of many points some are enough, and all of them would not fit.
  const many = Array.from({ length: 20_000 }, (_, at) => at);
  expect(
    theilSen(
      many,
      many.map((at) => 3 * at + (at % 7)),
    ),
  ).toBeCloseTo(3, 3);
});

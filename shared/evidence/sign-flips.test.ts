import { describe, expect, test } from 'bun:test';
import { generator } from './random.ts';
import { signedRanks } from './ranks.ts';
import { exactTest } from './signed-rank.ts';
import { criticalValues, EXACT, type Looks, nullOf, pValue, smallestP, statisticOf } from './sign-flips.ts';

const random = generator(3);
const differences = (n: number): number[] => Array.from({ length: n }, () => random() - 0.4);
/** Ranks of the first `end` of all rounds. */
const upTo = (values: number[], end: number) => signedRanks(values.map((one, at) => (at < end ? one : NaN)));
const family = (members: number, looks: number[]): { values: number[][]; looks: Looks[] } => {
  const values = Array.from({ length: members }, () => differences(looks.at(-1)!));
  return { values, looks: values.map((one) => looks.map((end) => upTo(one, end))) };
};

/** Largest |T| at each look of every joint sign pattern, by turning the differences themselves. */
const slowMaxima = (values: number[][], looks: number[]): number[][] => {
  const n = looks.at(-1)!;
  return Array.from({ length: 2 ** n }, (_, bits) =>
    looks.map((end) =>
      Math.max(
        ...values.map((one) =>
          statisticOf(
            upTo(
              one.map((each, at) => ((bits >> at) & 1 ? each : -each)),
              end,
            ),
          ),
        ),
      ),
    ),
  );
};

const rowsOf = (maxima: Float64Array, looks: number): number[][] =>
  Array.from({ length: maxima.length / looks }, (_, row) =>
    Array.from(maxima.subarray(row * looks, (row + 1) * looks)),
  );

/** Rows as text, sorted, so that two sets of patterns can be compared whatever their order. */
const sortedRows = (rows: number[][]): string[] =>
  rows.map((row) => row.map((one) => one.toFixed(9)).join()).toSorted();

test.each([
  [1, [5]],
  [3, [7]],
  [2, [3, 5, 6]],
])('all joint patterns of %d comparisons at looks %p, each with its mirror once', (members, looks) => {
  const { values, looks: ranks } = family(members, looks);
  const found = nullOf(ranks, 1);
  expect(found.exact).toBe(true);
  const rows = rowsOf(found.maxima, looks.length);
  expect(sortedRows([...rows, ...rows])).toEqual(sortedRows(slowMaxima(values, looks)));
});

test('one comparison at one look is the exact test', () => {
  for (let n = 4; n <= 10; n++) {
    const ranks = signedRanks(differences(n));
    const distribution = nullOf([[ranks]], 1);
    const critical = criticalValues(distribution, [0.1]);
    const exact = exactTest(ranks, 0.1);
    expect(pValue(distribution, critical, statisticOf(ranks))).toBeCloseTo(exact.p, 12);
    expect(smallestP(distribution, critical)).toBeCloseTo(exact.smallestP, 12);
    const beyond = (limit: number): number =>
      Array.from(distribution.maxima).filter((one) => one > limit + 1e-9).length;
    expect(beyond(critical[0]!)).toBe(beyond(exact.critical));
  }
});

describe('looks', () => {
  const looks = [6, 8, 10];
  const spent = [0.04, 0.08, 0.12];
  test('patterns that cross by a look are as many as may, and p counts them', () => {
    for (let at = 0; at < 10; at++) {
      const { values, looks: ranks } = family(2, looks);
      const distribution = nullOf(ranks, 1);
      const critical = criticalValues(distribution, spent);
      const slow = slowMaxima(values, looks);
      for (const [look, budget] of spent.entries()) {
        const crossed = slow.filter((row) =>
          row.slice(0, look + 1).some((one, j) => one > critical[j]! + 1e-9),
        ).length;
        expect(crossed / slow.length).toBeLessThanOrEqual(budget);
      }
      const statistic = statisticOf(ranks[0]!.at(-1)!);
      const slowP = slow.filter(
        (row) => row[2]! >= statistic - 1e-9 || row.slice(0, 2).some((one, j) => one > critical[j]! + 1e-9),
      );
      expect(pValue(distribution, critical, statistic)).toBeCloseTo(slowP.length / slow.length, 12);
      expect(pValue(distribution, critical, statistic) <= spent[2]!).toBe(statistic > critical[2]! + 1e-9);
    }
  });
  test('too little to spend: nothing can cross', () => {
    const { looks: ranks } = family(1, [4, 8]);
    expect(criticalValues(nullOf(ranks, 1), [0.03, 0.05])[0]).toBe(Infinity);
  });
});

test('above the exact limit patterns are drawn, close to the truth and the same each time', () => {
  for (let at = 0; at < 5; at++) {
    const ranks = signedRanks(differences(EXACT + 5));
    const distribution = nullOf([[ranks]], 7);
    expect(distribution.exact).toBe(false);
    const critical = criticalValues(distribution, [0.05]);
    const p = pValue(distribution, critical, statisticOf(ranks));
    const exact = exactTest(ranks, 0.05);
    expect(Math.abs(p - exact.p)).toBeLessThan(4 * Math.sqrt((exact.p * (1 - exact.p)) / 9999) + 2e-4);
    expect(Math.abs(critical[0]! - exact.critical)).toBeLessThan(0.1);
    expect(nullOf([[ranks]], 7).maxima).toEqual(distribution.maxima);
  }
});

test('p is never 0, also when it was drawn', () => {
  const ranks = signedRanks(Array.from({ length: 200 }, (_, at) => at + 1));
  const distribution = nullOf([[ranks]], 1);
  expect(pValue(distribution, criticalValues(distribution, [0.05]), statisticOf(ranks))).toBe(1 / 10_000);
});

/**
 * Tests of whether rounds can be exchanged: the same statistic with the rounds in other orders. One order moves all
 * series together, so that what they share (a neighbour, a slow round) does not count several times. Pure.
 */
import { midranks } from './ranks.ts';
import { shuffle, type Random } from './random.ts';

/** A permutation p with so many orders at most. */
const DRAWS = 1999;

/** Once this many orders reached the statistic, p is known well enough: it is not small (Besag & Clifford 1991). */
const ENOUGH = 30;

/** Rounds as they were measured. */
export const trueOrder = (rounds: number): Int32Array => Int32Array.from({ length: rounds }, (_, at) => at);

/**
 * The share of orders of `rounds` rounds whose statistic is at least that of the true order, or at least `observed`; orders
 * are lists of round numbers.
 */
export const permutationP = (
  rounds: number,
  statistic: (order: Int32Array) => number,
  random: Random,
  observed?: number,
): number => {
  const order = trueOrder(rounds);
  const bound = (observed ?? statistic(order)) - 1e-12;
  let reached = 1;
  for (let draw = 1; draw <= DRAWS; draw++) {
    shuffle(order, random);
    if (statistic(order) >= bound && ++reached === ENOUGH) return reached / (draw + 1);
  }
  return reached / (DRAWS + 1);
};

/** Ranks centred and scaled to length 1; a round without a value (NaN) and a series that never changes are 0. */
export const rankScores = (values: ArrayLike<number>): Float64Array => {
  const all = Array.from(values);
  const ranks = midranks(all.filter((one) => !Number.isNaN(one)));
  const middle = (ranks.length + 1) / 2;
  let next = 0;
  const scores = Float64Array.from(all, (one) => (Number.isNaN(one) ? 0 : ranks[next++]! - middle));
  const norm = Math.sqrt(scores.reduce((sum, one) => sum + one * one, 0));
  return norm > 0 ? scores.map((one) => one / norm) : scores;
};

const most = (count: number, of: (at: number) => number): number => {
  let largest = 0;
  for (let at = 0; at < count; at++) largest = Math.max(largest, of(at));
  return largest;
};

/** Drift: the largest correlation of any series' ranks with the round's number. */
export const driftStatistic =
  (scores: readonly Float64Array[]) =>
  (order: Int32Array): number =>
    most(scores.length, (at) => {
      const series = scores[at]!;
      let sum = 0;
      for (let round = 0; round < order.length; round++) sum += series[order[round]!]! * round;
      return Math.abs(sum);
    });

/** Wandering: the largest sum of products of neighbouring rounds of any series (serial correlation of its ranks). */
export const wanderStatistic =
  (scores: readonly Float64Array[]) =>
  (order: Int32Array): number =>
    most(scores.length, (at) => {
      const series = scores[at]!;
      let sum = 0;
      for (let round = 1; round < order.length; round++)
        sum += series[order[round - 1]!]! * series[order[round]!]!;
      // Shifted to stay positive, so that `most` starts below every series.
      return sum + 1;
    });

/** How many ways to choose, where few enough to try them all. */
const FEW = 20_000;

const choices = (n: number, k: number): number => {
  let ways = 1;
  for (let at = 1; at <= k; at++) ways = (ways * (n - k + at)) / at;
  return ways;
};

/**
 * Warm-up: how often `first` rounds taken anywhere stand as high, all series together, as the first ones do. All choices
 * are tried where they are few: 12 rounds have 220, and a draw would say now 0.004, now 0.006.
 */
export const firstRoundsP = (
  scores: readonly Float64Array[],
  rounds: number,
  first: number,
  random: Random,
): number => {
  const heights = Float64Array.from({ length: rounds }, (_, at) =>
    scores.reduce((sum, one) => sum + one[at]!, 0),
  );
  const height = (order: ArrayLike<number>): number => {
    let sum = 0;
    for (let at = 0; at < first; at++) sum += heights[order[at]!]!;
    return sum;
  };
  if (choices(rounds, first) > FEW) return permutationP(rounds, height, random);
  const bound = height(Array.from({ length: first }, (_, at) => at)) - 1e-12;
  let reached = 0;
  const choose = (from: number, left: number, sum: number): void => {
    if (left === 0) reached += sum >= bound ? 1 : 0;
    else for (let at = from; at <= rounds - left; at++) choose(at + 1, left - 1, sum + heights[at]!);
  };
  choose(0, first, 0);
  return reached / choices(rounds, first);
};

/** A series and, per round, the number of the group that the round belongs to (−1: none). */
export interface Grouped {
  values: Float64Array;
  groups: Int32Array;
  count: number;
}

/** Means of the groups; null for a group with fewer than two values. */
export const groupMeans = ({ values, groups, count }: Grouped, order?: Int32Array): (number | null)[] => {
  const sums = new Float64Array(count);
  const sizes = new Float64Array(count);
  for (let round = 0; round < groups.length; round++) {
    const value = values[order ? order[round]! : round]!;
    const group = groups[round]!;
    if (group < 0 || Number.isNaN(value)) continue;
    sums[group]! += value;
    sizes[group]!++;
  }
  return Array.from(sums, (sum, at) => (sizes[at]! < 2 ? null : sum / sizes[at]!));
};

/** Groups: the largest share of any series' variance that lies between its groups (eta squared). */
export const groupStatistic = (all: readonly Grouped[]) => {
  const sums = new Float64Array(Math.max(...all.map((one) => one.count)));
  const sizes = new Float64Array(sums.length);
  return (order: Int32Array): number =>
    most(all.length, (at) => {
      const { values, groups } = all[at]!;
      sums.fill(0);
      sizes.fill(0);
      let [n, total, squares] = [0, 0, 0];
      for (let round = 0; round < groups.length; round++) {
        const value = values[order[round]!]!;
        const group = groups[round]!;
        if (group < 0 || Number.isNaN(value)) continue;
        sums[group]! += value;
        sizes[group]!++;
        n++;
        total += value;
        squares += value * value;
      }
      const all2 = squares - (total * total) / n;
      if (!(all2 > 0)) return 0;
      let between = -(total * total) / n;
      for (let group = 0; group < sums.length; group++)
        if (sizes[group]! > 0) between += (sums[group]! * sums[group]!) / sizes[group]!;
      return between / all2;
    });
};

/** Two series moving together: the largest product sum of ranks of any pair (Spearman's correlation), in the given direction. */
export const togetherStatistic =
  (pairs: readonly (readonly [Float64Array, Float64Array])[], direction: 1 | -1) =>
  (order: Int32Array): number =>
    most(pairs.length, (at) => {
      const [moved, fixed] = pairs[at]!;
      let sum = 0;
      for (let round = 0; round < order.length; round++) sum += moved[order[round]!]! * fixed[round]!;
      return direction * sum + 1;
    });

/** Of more points than these every k-th is taken: the slopes of all pairs of 10,000 would fill 400 MB. */
const SLOPE_POINTS = 1000;

/** Theil–Sen slope: the median of the slopes between all pairs of points (Sen 1968). Fewer than two points: 0. */
export const theilSen = (allX: ArrayLike<number>, allY: ArrayLike<number>): number => {
  const step = Math.ceil(allX.length / SLOPE_POINTS);
  const [xs, ys] = [allX, allY].map((all) => Array.from(all).filter((_, at) => at % step === 0)) as [
    number[],
    number[],
  ];
  const slopes = new Float64Array((xs.length * (xs.length - 1)) / 2);
  let count = 0;
  for (let a = 0; a < xs.length; a++)
    for (let b = a + 1; b < xs.length; b++)
      if (xs[a] !== xs[b]) slopes[count++] = (ys[b]! - ys[a]!) / (xs[b]! - xs[a]!);
  if (count === 0) return 0;
  const sorted = slopes.subarray(0, count).toSorted();
  return (sorted[(count - 1) >> 1]! + sorted[count >> 1]!) / 2;
};

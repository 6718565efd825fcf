/** Ranks, Walsh averages and the Hodges–Lehmann estimate. Pure; inputs are finite numbers. */
import { sortedCopy } from '../statistics.ts';

/** How many of the ascending values are below x; `orEqual`: or equal to it. */
const countBelow = (ascending: Float64Array, x: number, orEqual: boolean): number => {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = ascending[middle]!;
    if (orEqual ? one <= x : one < x) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Ranks from 1, ties share their mean rank. */
export const midranks = (values: ArrayLike<number>): Float64Array => {
  const ascending = sortedCopy(values);
  const ranks = new Float64Array(values);
  return ranks.map((one) => (countBelow(ascending, one, false) + countBelow(ascending, one, true) + 1) / 2);
};

/** Differences as the signed-rank test sees them, by round. */
export interface SignedRanks {
  /** Rank of the difference's size; 0 in rounds without a value. Zeros are ranked with the rest. */
  sizes: Float64Array;
  /** The same with the difference's sign: 0 for a difference of zero, which counts on neither side. */
  signed: Float64Array;
}

/**
 * Signed ranks of differences; NaN is a round without a value. A difference of zero takes no side itself, but may take
 * either under sign flips: that is a little conservative, and many equal counts still have an interval.
 */
export const signedRanks = (differences: ArrayLike<number>): SignedRanks => {
  const all = new Float64Array(differences);
  const ranks = midranks(all.filter((one) => !Number.isNaN(one)).map(Math.abs));
  let next = 0;
  const sizes = all.map((one) => (Number.isNaN(one) ? 0 : ranks[next++]!));
  return { sizes, signed: sizes.map((one, at) => (one === 0 ? 0 : Math.sign(all[at]!) * one)) };
};

/** How many Walsh averages (means of two values, also of a value with itself) are at most x. `ascending` is sorted. */
const walshAtMost = (ascending: Float64Array, x: number): number => {
  let count = 0;
  let other = ascending.length - 1;
  for (let at = 0; at <= other; at++) {
    while (other >= at && (ascending[at]! + ascending[other]!) / 2 > x) other--;
    if (other >= at) count += other - at + 1;
  }
  return count;
};

/**
 * The k-th smallest (from 1) of the n(n + 1)/2 Walsh averages, without listing them: bisection on the value, counting in
 * O(n), down to neighbouring doubles; the result is a Walsh average to the last bit.
 */
export const walshAverage = (ascending: Float64Array, k: number): number => {
  let [low, high] = [ascending[0]!, ascending.at(-1)!];
  if (walshAtMost(ascending, low) >= k) return low;
  // Invariant: fewer than k are at most low; at least k are at most high.
  for (;;) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    if (walshAtMost(ascending, middle) >= k) high = middle;
    else low = middle;
  }
};

/** The Hodges–Lehmann estimate: the median of the Walsh averages. n = 0 is an error. */
export const hodgesLehmann = (ascending: Float64Array): number => {
  if (ascending.length === 0) throw new RangeError('an estimate from nothing');
  const total = (ascending.length * (ascending.length + 1)) / 2;
  const low = walshAverage(ascending, Math.floor((total + 1) / 2));
  return total % 2 === 1 ? low : (low + walshAverage(ascending, total / 2 + 1)) / 2;
};

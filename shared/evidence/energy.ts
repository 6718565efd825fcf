/**
 * Where a series splits best into two: the energy statistic of E-divisive means (Matteson & James, "A nonparametric approach
 * for multiple change point analysis of multivariate data", JASA 109 (2014) 334–345) and its permutation test. Pure.
 */
import { shuffle, type Random } from './random.ts';

/** A side of a split has at least this many points: fewer can't be told from a stray. */
export const SHORTEST = 3;

export interface Split {
  /** First point of the right side. */
  at: number;
  /** Twice the mean distance between the sides less the mean distance within each, times n·m / (n + m). */
  statistic: number;
}

/** The best split of values read in the given order, from the sum of each value's distances to all. O(n²). */
const bestSplitOf = (
  values: Float64Array,
  order: Int32Array,
  distances: Float64Array,
  total: number,
): Split => {
  const n = order.length;
  const z = new Float64Array(n);
  // Sums of distances over pairs within the left and within the right side of a split before point t.
  let [left, right] = [0, total];
  let best: Split = { at: 0, statistic: -Infinity };
  for (let t = 0; t < n; t++) {
    if (t >= SHORTEST && n - t >= SHORTEST) {
      const rest = n - t;
      const between = total - left - right;
      const statistic =
        ((t * rest) / n) * ((2 * between) / (t * rest) - (2 * left) / (t * t) - (2 * right) / (rest * rest));
      if (statistic > best.statistic) best = { at: t, statistic };
    }
    const value = values[order[t]!]!;
    let below = 0;
    for (let i = 0; i < t; i++) below += Math.abs(value - z[i]!);
    z[t] = value;
    left += below;
    right -= distances[order[t]!]! - below;
  }
  return best;
};

const distanceSums = (values: Float64Array): { distances: Float64Array; total: number } => {
  const distances = new Float64Array(values.length);
  let total = 0;
  for (let a = 0; a < values.length; a++)
    for (let b = 0; b < a; b++) {
      const distance = Math.abs(values[a]! - values[b]!);
      distances[a]! += distance;
      distances[b]! += distance;
      total += distance;
    }
  return { distances, total };
};

const inOrder = (n: number): Int32Array => Int32Array.from({ length: n }, (_, at) => at);

/** The best split; null when the series is too short for two sides, or all values are equal. */
export const bestSplit = (values: Float64Array): Split | null => {
  if (values.length < 2 * SHORTEST) return null;
  const { distances, total } = distanceSums(values);
  return total > 0 ? bestSplitOf(values, inOrder(values.length), distances, total) : null;
};

const DRAWS = 499;
/** Draws that reach the statistic after which p is known well enough; where p is plainly large, a few will do. */
const ENOUGH = 12;
const PLAINLY = { reached: 4, p: 0.1 };
/** Below this many, p is read off an exponential tail through the largest tenth of the draws: energy statistics have one. */
const FEW = 10;

/**
 * The best split and its permutation p: how often values in random order split as well somewhere. p below 0.02 comes from
 * a tail fitted to the draws, so that a few hundred of them do for the small levels that many tests need.
 */
export const splitTest = (
  values: Float64Array,
  random: Random,
  draws = DRAWS,
): (Split & { p: number }) | null => {
  if (values.length < 2 * SHORTEST) return null;
  const { distances, total } = distanceSums(values);
  if (!(total > 0)) return null;
  const order = inOrder(values.length);
  const split = bestSplitOf(values, order, distances, total);
  const drawn: number[] = [];
  let reached = 1;
  while (drawn.length < draws) {
    shuffle(order, random);
    const { statistic } = bestSplitOf(values, order, distances, total);
    drawn.push(statistic);
    if (statistic < split.statistic - 1e-12) continue;
    const p = ++reached / (drawn.length + 1);
    if (reached === ENOUGH || (reached >= PLAINLY.reached && p > PLAINLY.p)) return { ...split, p };
  }
  if (reached > FEW) return { ...split, p: reached / (draws + 1) };
  const tail = drawn.toSorted((a, b) => b - a).slice(0, Math.ceil(draws / 10));
  const from = tail.at(-1)!;
  const scale = tail.reduce((sum, one) => sum + one - from, 0) / (tail.length - 1);
  const fitted = scale > 0 ? (tail.length / draws) * Math.exp(-(split.statistic - from) / scale) : 1;
  return { ...split, p: Math.min(fitted, reached / (draws + 1)) };
};

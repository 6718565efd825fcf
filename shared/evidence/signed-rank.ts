/**
 * The signed-rank test of one comparison: its exact null distribution by dynamic programming, and the interval that a
 * critical value gives. Pure.
 */
import { normalTail } from './distributions.ts';
import { type SignedRanks, walshAverage } from './ranks.ts';

/** Up to this many rounds the null distribution is counted out; the normal approximation differs by less than 0.0005 there. */
export const COUNTED = 60;

/** Standard deviation of Σ ±rank for n rounds. */
const deviation = (n: number): number => Math.sqrt((n * (n + 1) * (2 * n + 1)) / 6);

/**
 * Probability of each sum of a subset of whole weights, when each weight is in it with chance ½: the null distribution of
 * W+ for ranks as weights (doubled where ties share halves).
 */
const subsetSums = (weights: readonly number[]): Float64Array => {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const chances = new Float64Array(total + 1);
  chances[0] = 1;
  for (const weight of weights)
    for (let sum = total; sum >= 0; sum--)
      chances[sum] = (chances[sum]! + (sum >= weight ? chances[sum - weight]! : 0)) / 2;
  return chances;
};

const distributions = new Map<number, Float64Array>();

/** Probability of each W+ = 0 … n(n + 1)/2 under sign flips, without ties. Kept per n. */
export const signedRankNull = (n: number): Float64Array => {
  const known = distributions.get(n) ?? subsetSums(Array.from({ length: n }, (_, at) => at + 1));
  distributions.set(n, known);
  return known;
};

/** What the test of one comparison says: the largest |T| that is no difference (infinite: none can be), p, the smallest p. */
export interface ExactTest {
  critical: number;
  p: number;
  smallestP: number;
}

/** The exact test of one comparison (ties included) at a two-sided level, for up to COUNTED rounds. */
export const exactTest = ({ sizes, signed }: SignedRanks, level: number): ExactTest => {
  // Midranks end in halves at most; doubled they are whole.
  const weights = Array.from(
    sizes.filter((one) => one > 0),
    (one) => 2 * one,
  );
  const chances = subsetSums(weights);
  const total = chances.length - 1;
  const observed = 2 * Math.abs(signed.reduce((sum, one) => sum + one, 0));
  let [p, beyond, limit] = [0, 0, total];
  // Outcomes |2·W+ − total| from the most extreme inwards, both sides together, while all of them fit the level.
  for (let plus = total, fits = true; 2 * plus >= total; plus--) {
    const distance = 2 * plus - total;
    const chance = chances[plus]! * (distance === 0 ? 1 : 2);
    if (distance >= observed) p += chance;
    fits &&= beyond + chance <= level + 1e-12;
    if (fits) [beyond, limit] = [beyond + chance, distance - 1];
  }
  const norm = Math.sqrt(weights.reduce((sum, one) => sum + one * one, 0));
  return {
    critical: beyond > 0 ? limit / norm : Infinity,
    p: Math.min(1, p),
    smallestP: Math.min(1, 2 * chances[total]!),
  };
};

/** Two-sided probability of a statistic |T| at least (`strictly`: above) `statistic`, n rounds without ties. */
export const signedRankTail = (n: number, statistic: number, strictly = false): number => {
  if (n === 0 || !Number.isFinite(statistic)) return n === 0 ? 1 : 0;
  if (n > COUNTED) return 2 * normalTail(statistic);
  const total = (n * (n + 1)) / 2;
  const bound = statistic * deviation(n) + (strictly ? 1e-6 : -1e-6);
  return signedRankNull(n).reduce(
    (sum, chance, plus) => (Math.abs(2 * plus - total) >= bound ? sum + chance : sum),
    0,
  );
};

/** The smallest two-sided p that n rounds can give: 2^(1 − n). */
export const smallestReachable = (n: number): number => 2 ** (1 - n);

/** The largest two-sided level at most `level` that n rounds can have; 0 when even the most extreme outcome is likelier. */
export const attainedLevel = (n: number, level: number): number => {
  if (n > COUNTED) return level;
  const ways = signedRankNull(n);
  let sum = 0;
  for (const chance of ways) {
    if (2 * (sum + chance) > level + 1e-12) break;
    sum += chance;
  }
  return 2 * sum;
};

/** The same where values are equal: they share their ranks, whatever they are compared with. */
const tiedDeviation = (ascending: Float64Array): number => {
  let lost = 0;
  for (let from = 0, at = 1; at <= ascending.length; at++) {
    if (at < ascending.length && ascending[at] === ascending[from]) continue;
    lost += ((at - from) ** 3 - (at - from)) / 12;
    from = at;
  }
  return Math.sqrt(deviation(ascending.length) ** 2 - lost);
};

/**
 * The values that a test with this critical |T| does not refuse, as [low, high] of the sorted differences: Walsh averages
 * counted in from both ends. Infinite where the test can't refuse anything.
 */
export const intervalOf = (ascending: Float64Array, critical: number): [low: number, high: number] => {
  const n = ascending.length;
  const total = (n * (n + 1)) / 2;
  // W+ counts the Walsh averages above a value; it may be as low as (total − critical·sd) / 2 and not be refused.
  const from = Math.ceil((total - critical * tiedDeviation(ascending)) / 2 - 1e-6);
  if (n === 0 || !(from >= 1)) return [-Infinity, Infinity];
  return [walshAverage(ascending, from), walshAverage(ascending, total + 1 - from)];
};

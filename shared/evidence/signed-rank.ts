/**
 * The signed-rank test of one comparison without ties: its exact null distribution by dynamic programming, the interval
 * that a critical value gives, and what a number of rounds can show. Pure.
 */
import { normalQuantile, normalTail, studentQuantile } from './distributions.ts';
import { walshAverage } from './ranks.ts';

/** Above this many rounds the normal approximation is used for levels; it differs by less than 0.0005 there. */
const EXACT = 60;

/** Standard deviation of Σ ±rank for n rounds. */
const deviation = (n: number): number => Math.sqrt((n * (n + 1) * (2 * n + 1)) / 6);

const distributions = new Map<number, Float64Array>();

/** Probability of each W+ = 0 … n(n + 1)/2 under sign flips: how many subsets of 1 … n have that sum, over 2^n. */
export const signedRankNull = (n: number): Float64Array => {
  const known = distributions.get(n);
  if (known) return known;
  const total = (n * (n + 1)) / 2;
  const ways = new Float64Array(total + 1);
  ways[0] = 1;
  for (let rank = 1; rank <= n; rank++)
    for (let sum = total; sum >= 0; sum--)
      ways[sum] = (ways[sum]! + (sum >= rank ? ways[sum - rank]! : 0)) / 2;
  distributions.set(n, ways);
  return ways;
};

/** Two-sided probability of a statistic |T| at least (`strictly`: above) `statistic`, n rounds without ties. */
export const signedRankTail = (n: number, statistic: number, strictly = false): number => {
  if (n === 0 || !Number.isFinite(statistic)) return n === 0 ? 1 : 0;
  if (n > EXACT) return 2 * normalTail(statistic);
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
  if (n > EXACT) return level;
  const ways = signedRankNull(n);
  let sum = 0;
  for (const chance of ways) {
    if (2 * (sum + chance) > level + 1e-12) break;
    sum += chance;
  }
  return 2 * sum;
};

/**
 * The values that a test with this critical |T| does not refuse, as [low, high] of the sorted differences: Walsh averages
 * counted in from both ends. Infinite where the test can't refuse anything.
 */
export const intervalOf = (ascending: Float64Array, critical: number): [low: number, high: number] => {
  const n = ascending.length;
  const total = (n * (n + 1)) / 2;
  // W+ counts the Walsh averages above a value; it may be as low as (total − critical·sd) / 2 and not be refused.
  const from = Math.ceil((total - critical * deviation(n)) / 2 - 1e-6);
  if (n === 0 || !(from >= 1)) return [-Infinity, Infinity];
  return [walshAverage(ascending, from), walshAverage(ascending, total + 1 - from)];
};

/** The signed-rank test's efficiency against the t test on normal noise: 3/π. */
export const EFFICIENCY = 3 / Math.PI;

/** Chance that Student's t with `freedom` degrees, shifted by `shift`, exceeds `bound` (Johnson & Welch 1940's normal approximation). */
const shiftedTail = (bound: number, freedom: number, shift: number): number =>
  normalTail((bound * (1 - 1 / (4 * freedom)) - shift) / Math.sqrt(1 + (bound * bound) / (2 * freedom)));

/** Power of a two-sided t test of `level` to find a shift of `shift` standard errors on its side. */
export const studentPower = (shift: number, freedom: number, level: number): number =>
  level > 0 ? shiftedTail(studentQuantile(1 - level / 2, freedom), freedom, shift) : 0;

/**
 * Power of n rounds to put the whole interval above 0 when the truth is `shift` standard deviations of a round above it,
 * on normal noise. Where only rounds that all agree are enough, that chance is exact.
 */
export const power = (shift: number, n: number, level: number): number => {
  const attained = attainedLevel(n, level);
  if (n < 2 || attained === 0) return 0;
  return attained === smallestReachable(n)
    ? normalTail(-shift) ** n
    : studentPower(shift * Math.sqrt(n * EFFICIENCY), n - 1, attained);
};

/** The smallest shift (in standard deviations of a round) that n rounds find with this power; Infinity when none can. */
export const detectableShift = (n: number, level: number, wanted: number): number => {
  if (n < 2 || attainedLevel(n, level) === 0) return Infinity;
  let [low, high] = [0, 1];
  while (power(high, n, level) < wanted) high *= 2;
  for (let at = 0; at < 50; at++) {
    const middle = (low + high) / 2;
    if (power(middle, n, level) < wanted) low = middle;
    else high = middle;
  }
  return high;
};

/** The fewest rounds (at least 3, at most `most`) that find `shift` with this power; null when that is not enough. */
export const roundsFor = (shift: number, level: number, wanted: number, most = 10_000): number | null => {
  const enough = (n: number): boolean => power(shift, n, level) >= wanted;
  if (!enough(most)) return null;
  // The attained level makes power saw-toothed below EXACT rounds: the first n from which it stays is wanted there.
  const start = Math.max(3, Math.floor(((normalQuantile(1 - level / 2) * 0.8) / shift) ** 2));
  let high = most;
  let low = Math.min(start, most);
  if (enough(low)) low = 3;
  if (low < EXACT) {
    for (let n = low; n <= EXACT; n++) if (enough(n)) return n;
    low = EXACT;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
};

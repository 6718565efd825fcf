/** What a number of rounds, or of sessions, can show: power on normal noise, and what it takes. Pure. */
import { mean } from '../statistics.ts';
import { normalQuantile, normalTail, studentQuantile } from './distributions.ts';
import { attainedLevel, COUNTED, smallestReachable } from './signed-rank.ts';

/** The signed-rank test's efficiency against the t test on normal noise. */
export const EFFICIENCY = 3 / Math.PI;

/**
 * Student's t with `freedom` degrees, shifted: `standard(bound)` is where the bound lies in a standard normal, by Johnson &
 * Welch's approximation (1940): mean and spread of what is compared with the shift.
 */
const shifted = (freedom: number, level: number): { centre: number; spread: number } => {
  const bound = studentQuantile(1 - level / 2, freedom);
  return { centre: bound * (1 - 1 / (4 * freedom)), spread: Math.sqrt(1 + (bound * bound) / (2 * freedom)) };
};

/** Power of a two-sided t test of `level` to find a shift of `shift` standard errors, on its side. */
export const studentPower = (shift: number, freedom: number, level: number): number => {
  if (!(level > 0)) return 0;
  const { centre, spread } = shifted(freedom, level);
  return normalTail((centre - shift) / spread);
};

/**
 * Power of n rounds to put the whole interval above 0 when the truth is `shift` standard deviations of a round above it.
 * Where only rounds that all agree are enough, that chance is exact.
 */
export const power = (shift: number, n: number, level: number): number => {
  const attained = attainedLevel(n, level);
  if (n < 2 || attained === 0) return 0;
  return attained === smallestReachable(n)
    ? normalTail(-shift) ** n
    : studentPower(shift * Math.sqrt(n * EFFICIENCY), n - 1, attained);
};

/** The shift, in standard errors, that a two-sided t test of `level` finds with this power. */
export const detectableErrors = (freedom: number, level: number, wanted: number): number => {
  const { centre, spread } = shifted(freedom, level);
  return centre + spread * normalQuantile(wanted);
};

/** The smallest shift (in standard deviations of a round) that n rounds find with this power; Infinity when none can. */
export const detectableShift = (n: number, level: number, wanted: number): number => {
  const attained = attainedLevel(n, level);
  if (n < 2 || attained === 0) return Infinity;
  return attained === smallestReachable(n)
    ? normalQuantile(wanted ** (1 / n))
    : detectableErrors(n - 1, attained, wanted) / Math.sqrt(n * EFFICIENCY);
};

/**
 * The fewest rounds (at most `most`) that find `shift` with this power; null when that is not enough. Of several shifts, each
 * as likely as the others, they find as many.
 */
export const roundsFor = (
  shift: number | readonly number[],
  level: number,
  wanted: number,
  most = 10_000,
): number | null => {
  const shifts = typeof shift === 'number' ? [shift] : shift;
  const enough = (n: number): boolean => mean(shifts.map((one) => power(one, n, level))) >= wanted;
  if (!enough(most)) return null;
  // Power of few rounds is saw-toothed, as their levels come in steps; from COUNTED rounds on it grows.
  for (let n = 3; n <= Math.min(COUNTED, most); n++) if (enough(n)) return n;
  let [low, high] = [COUNTED, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
};

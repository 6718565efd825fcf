/** Shares of trials that were solved: intervals, several tries of a task, and pairs of trials. Pure. */
import { normalQuantile } from '../../../shared/evidence/distributions.ts';

/** Ends of an interval. */
export type Ends = readonly [low: number, high: number];

/**
 * Wilson's score interval of a share: `successes` of `n`, n ≥ 1. Wilson 1927, without continuity correction; its ends
 * stay within 0 and 1, also where none or all succeeded.
 */
export const wilson = (successes: number, n: number, level = 0.95): Ends => {
  const z = normalQuantile((1 + level) / 2);
  const share = successes / n;
  const centre = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  // Rounding must not put the ends beyond the share itself.
  return [successes === 0 ? 0 : Math.max(0, centre - half), successes === n ? 1 : Math.min(1, centre + half)];
};

/**
 * pass@k of one task: the chance that at least one of k tries solves it, estimated without bias from `solved` of `n`
 * tries, k ≤ n: 1 − C(n − solved, k) / C(n, k), as a product that doesn't overflow (Chen et al. 2021, arXiv 2107.03374).
 */
export const passAt = (n: number, solved: number, k: number): number => {
  if (n - solved < k) return 1;
  let none = 1;
  for (let at = n - solved + 1; at <= n; at++) none *= 1 - k / at;
  return 1 - none;
};

/**
 * pass^k of one task: the chance that all of k tries solve it, estimated without bias from `solved` of `n` tries, k ≤ n:
 * C(solved, k) / C(n, k) (Yao et al. 2024, arXiv 2406.12045).
 */
export const passAll = (n: number, solved: number, k: number): number => {
  let all = 1;
  for (let at = 0; at < k; at++) all *= Math.max(0, solved - at) / (n - at);
  return all;
};

/**
 * Exact McNemar: two-sided p of pairs that differ, `first` in favour of one side and `second` of the other, when each is
 * as likely either way. 1 when no pair differs.
 */
export const mcnemar = (first: number, second: number): number => {
  const n = first + second;
  const less = Math.min(first, second);
  // Logarithms: 2^-n is nothing to a computer from n = 1075 on.
  let choose = 0;
  let tail = Math.exp(-n * Math.LN2);
  for (let at = 1; at <= less; at++) {
    choose += Math.log((n - at + 1) / at);
    tail += Math.exp(choose - n * Math.LN2);
  }
  return Math.min(1, 2 * tail);
};

/**
 * Two-sided p of differences by task (how many more tries one side solved) when each task's could as well have the other
 * sign: the exact share of all sign flips whose sum is as far from 0. With one try per task it is {@link mcnemar}. Whole
 * numbers; 1 when no task differs.
 */
export const signFlips = (differences: readonly number[]): number => {
  const sizes = differences.map(Math.abs).filter((one) => one > 0);
  const reach = sizes.reduce((sum, one) => sum + one, 0);
  const found = Math.abs(differences.reduce((sum, one) => sum + one, 0));
  // chances[reach + s]: that the tasks so far sum to s.
  let chances = new Float64Array(2 * reach + 1);
  chances[reach] = 1;
  let so = 0;
  for (const size of sizes) {
    const next = new Float64Array(2 * reach + 1);
    for (let at = reach - so; at <= reach + so; at++) {
      const half = chances[at]! / 2;
      if (half === 0) continue;
      next[at - size]! += half;
      next[at + size]! += half;
    }
    so += size;
    chances = next;
  }
  let p = 0;
  for (let at = 0; at <= 2 * reach; at++) if (Math.abs(at - reach) >= found) p += chances[at]!;
  return Math.min(1, p);
};

/** Holm's adjusted p values, in the order given: so that any of several differences is claimed wrongly as seldom as one. */
export const holm = (ps: readonly number[]): number[] => {
  const order = ps.map((_, at) => at).toSorted((a, b) => ps[a]! - ps[b]!);
  const adjusted = ps.map(() => 1);
  let highest = 0;
  for (const [rank, at] of order.entries()) {
    highest = Math.max(highest, Math.min(1, (ps.length - rank) * ps[at]!));
    adjusted[at] = highest;
  }
  return adjusted;
};

/**
 * The sign-flip test on signed ranks (Wilcoxon), jointly for a family of comparisons, with planned looks (max-T:
 * Westfall & Young, Resampling-Based Multiple Testing, 1993). Where candidate and reference are exchangeable within a
 * round, turning the sign of a round's differences, of all comparisons together, changes nothing; so the observed
 * statistics are compared with those of all sign patterns (exactly up to EXACT rounds, a seeded draw of them above).
 */
import { generator } from './random.ts';
import type { SignedRanks } from './ranks.ts';

/** Up to this many rounds every sign pattern is looked at: 2^(15 − 1), as a pattern and its mirror give the same |T|. */
export const EXACT = 15;
const DRAWS = 9999;

/** One comparison's ranks, once per planned look that was reached: over the rounds so far, absent after them. */
export type Looks = readonly SignedRanks[];

const normOf = ({ sizes }: SignedRanks): number => Math.sqrt(sizes.reduce((sum, one) => sum + one * one, 0));

/** |T|: the sum of signed ranks over its standard deviation under sign flips; 0 without any round. */
export const statisticOf = (ranks: SignedRanks): number =>
  Math.abs(ranks.signed.reduce((sum, one) => sum + one, 0)) / (normOf(ranks) || 1);

/** What the family's largest |T| does under sign flips: per pattern one row, per look one column. */
export interface Null {
  patterns: number;
  looks: number;
  /** Row by row. */
  maxima: Float64Array;
  exact: boolean;
}

/** Each round's share of each statistic, round by round: columns are looks, and within a look the family's members. */
const shares = (family: readonly Looks[]): { values: Float64Array; rounds: number; columns: number } => {
  const looks = family[0]!.length;
  const rounds = family[0]![looks - 1]!.sizes.length;
  const columns = family.length * looks;
  const values = new Float64Array(rounds * columns);
  for (const [member, lists] of family.entries())
    for (const [look, ranks] of lists.entries()) {
      const norm = normOf(ranks) || 1;
      for (const [round, size] of ranks.sizes.entries())
        values[round * columns + look * family.length + member] =
          (ranks.signed[round]! < 0 ? -size : size) / norm;
    }
  return { values, rounds, columns };
};

/** The joint null distribution of a family whose members have the same looks. */
export const nullOf = (family: readonly Looks[], seed: number): Null => {
  const members = family.length;
  const looks = family[0]!.length;
  const { values, rounds, columns } = shares(family);
  const exact = rounds <= EXACT;
  const patterns = exact ? 2 ** (rounds - 1) : DRAWS + 1;
  const maxima = new Float64Array(patterns * looks);
  const sums = new Float64Array(columns);
  const signs = new Float64Array(rounds).fill(1);
  const note = (row: number): void => {
    for (let look = 0; look < looks; look++) {
      let most = 0;
      for (let at = look * members; at < (look + 1) * members; at++) {
        const size = Math.abs(sums[at]!);
        if (size > most) most = size;
      }
      maxima[row * looks + look] = most;
    }
  };
  const add = (round: number, factor: number): void => {
    const from = round * columns;
    for (let at = 0; at < columns; at++) sums[at]! += factor * values[from + at]!;
  };
  // The first row is the pattern that was observed.
  for (let round = 0; round < rounds; round++) add(round, 1);
  note(0);
  const random = generator(seed);
  let coins = 0;
  for (let row = 1; row < patterns; row++) {
    if (exact) {
      // Gray code: one sign changes per step; the last round's sign stays.
      const round = 31 - Math.clz32(row & -row);
      signs[round] = -signs[round]!;
      add(round, 2 * signs[round]!);
    } else {
      sums.fill(0);
      for (let round = 0; round < rounds; round++) {
        // One number is 32 coins.
        coins = round % 32 === 0 ? Math.floor(random() * 4294967296) : coins >>> 1;
        add(round, coins & 1 ? -1 : 1);
      }
    }
    note(row);
  }
  return { patterns, looks, maxima, exact };
};

/** Sums of the same ranks in another order differ in the last bits; two statistics this close are the same. */
const SAME = 1e-9;

/**
 * Largest |T| that is not yet a difference at each look: with these, the share of patterns that cross by look j is at
 * most `spent[j]`. Infinite where no statistic can be a difference. A single look with `spent` 0.05 is the plain test.
 */
export const criticalValues = (distribution: Null, spent: readonly number[]): number[] => {
  const { patterns, looks, maxima } = distribution;
  const alive = new Uint8Array(patterns).fill(1);
  let crossed = 0;
  const critical: number[] = [];
  for (let look = 0; look < looks; look++) {
    const left = new Float64Array(patterns - crossed);
    for (let row = 0, at = 0; row < patterns; row++)
      if (alive[row] === 1) left[at++] = maxima[row * looks + look]!;
    left.sort();
    const budget = Math.floor(spent[look]! * patterns + SAME) - crossed;
    // The largest `budget` may cross; the next one, and all equal to it, may not.
    const limit = budget <= 0 ? Infinity : budget >= left.length ? -1 : left[left.length - 1 - budget]!;
    let cross = 0;
    for (let row = 0; row < patterns; row++)
      if (alive[row] === 1 && maxima[row * looks + look]! > limit + SAME) {
        alive[row] = 0;
        cross++;
      }
    crossed += cross;
    critical.push(cross > 0 ? limit : Infinity);
  }
  return critical;
};

/**
 * p of a statistic at the last look reached: the share of patterns that crossed before, or reach it now (the stagewise
 * order of group-sequential tests; with one look, the plain permutation p).
 */
export const pValue = (distribution: Null, critical: readonly number[], statistic: number): number => {
  const { patterns, looks, maxima } = distribution;
  let count = 0;
  for (let row = 0; row < patterns; row++) {
    let counts = maxima[row * looks + looks - 1]! >= statistic - SAME;
    for (let look = 0; look < looks - 1 && !counts; look++)
      counts = maxima[row * looks + look]! > critical[look]! + SAME;
    if (counts) count++;
  }
  // A drawn test counts the observed pattern too, so that p is never 0.
  return Math.max(1, count) / patterns;
};

/** The smallest p that any data with this arrangement could have had at the last look. */
export const smallestP = (distribution: Null, critical: readonly number[]): number => {
  const { patterns, looks, maxima } = distribution;
  let most = 0;
  for (let row = 0; row < patterns; row++) most = Math.max(most, maxima[row * looks + looks - 1]!);
  return pValue(distribution, critical, most);
};

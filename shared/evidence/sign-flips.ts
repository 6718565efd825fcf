/**
 * The sign-flip test on signed ranks (Wilcoxon), jointly for a family of comparisons, with planned looks (max-T:
 * Westfall & Young, Resampling-Based Multiple Testing, 1993). Where candidate and reference are exchangeable within a
 * round, turning the sign of a round's differences, of all comparisons together, changes nothing; so the observed
 * statistics are compared with those of all sign patterns (exactly up to EXACT rounds, a seeded draw of them above).
 */
import { generator } from './random.ts';

/** Up to this many rounds every sign pattern is looked at: 2^(15 − 1), as a pattern and its mirror give the same |T|. */
export const EXACT = 15;
const DRAWS = 9999;

/** One comparison's signed ranks, one list per planned look that was reached (each over the rounds so far, 0 for none). */
export type Looks = readonly Float64Array[];

/** |T| of signed ranks: the sum over its standard deviation under sign flips; 0 when nothing differs. */
export const statisticOf = (ranks: Float64Array): number => {
  let [sum, squares] = [0, 0];
  for (const one of ranks) {
    sum += one;
    squares += one * one;
  }
  return squares > 0 ? Math.abs(sum) / Math.sqrt(squares) : 0;
};

/** What the family's largest |T| does under sign flips: per pattern one row, per look one column. */
export interface Null {
  patterns: number;
  looks: number;
  /** Row by row. */
  maxima: Float64Array;
  exact: boolean;
}

/** Adds one round's share (twice its signed rank, turned by `turn`) to each running sum it takes part in. */
const scaled = (family: readonly Looks[]): { values: Float64Array; rounds: number; columns: number } => {
  const looks = family[0]!.length;
  const rounds = family[0]![looks - 1]!.length;
  const columns = family.length * looks;
  const values = new Float64Array(rounds * columns);
  for (const [member, lists] of family.entries())
    for (const [look, ranks] of lists.entries()) {
      const norm = Math.sqrt(ranks.reduce((sum, one) => sum + one * one, 0));
      if (norm > 0)
        for (const [round, one] of ranks.entries())
          values[round * columns + look * family.length + member] = one / norm;
    }
  return { values, rounds, columns };
};

/** The joint null distribution of a family whose members have the same looks. */
export const nullOf = (family: readonly Looks[], seed: number): Null => {
  const members = family.length;
  const looks = family[0]!.length;
  const { values, rounds, columns } = scaled(family);
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
  // The first row is the pattern that was observed: a drawn test counts it too, so that p is never 0.
  for (let round = 0; round < rounds; round++) add(round, 1);
  note(0);
  const random = generator(seed);
  for (let row = 1; row < patterns; row++) {
    if (exact) {
      // Gray code: one sign changes per step; the last round's sign stays.
      const round = 31 - Math.clz32(row & -row);
      signs[round] = -signs[round]!;
      add(round, 2 * signs[round]!);
    } else {
      sums.fill(0);
      for (let round = 0; round < rounds; round++) add(round, random() < 0.5 ? -1 : 1);
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
    const left = Float64Array.from(
      Array.from(alive.keys()).filter((row) => alive[row] === 1),
      (row) => maxima[row * looks + look]!,
    ).sort();
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
  return count / patterns;
};

/** The smallest p that any data with this arrangement could have had at the last look. */
export const smallestP = (distribution: Null, critical: readonly number[]): number => {
  const { patterns, looks, maxima } = distribution;
  let most = 0;
  for (let row = 0; row < patterns; row++) most = Math.max(most, maxima[row * looks + looks - 1]!);
  return pValue(distribution, critical, most);
};

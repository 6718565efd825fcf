/** A family of comparisons in one session: estimate, interval and p of each, all at once. Pure. */
import { standardDeviation } from '../statistics.ts';
import { presentDifferences, type Pair } from './pairs.ts';
import { hodgesLehmann, signedRanks, sortedCopy } from './ranks.ts';
import { intervalOf, signedRankTail } from './signed-rank.ts';
import { criticalValues, nullOf, pValue, smallestP, statisticOf } from './sign-flips.ts';
import { spentAt } from './spending.ts';

/** On the pair's own scale (log-ratio or difference); the interval is infinite where the rounds can't bound it. */
export interface Estimate {
  pair: Pair;
  rounds: number;
  estimate: number;
  low: number;
  high: number;
  p: number;
  smallestP: number;
  /** Two-sided level of this comparison alone that the family's critical value amounts to; 0: nothing can be a difference. */
  ownLevel: number;
  /** Standard deviation of the differences. */
  sd: number;
}

/** The looks reached with this many rounds; rounds that no look was planned at are a last look of their own. */
const reached = (looks: readonly number[] | undefined, rounds: number): number[] => {
  const planned = (looks ?? []).filter((one) => one < rounds);
  return [...planned, rounds];
};

/**
 * Hodges–Lehmann estimates with intervals inverted from the joint sign-flip test of the whole family, so that p ≤ level
 * exactly where the interval leaves 0 out. With planned looks it is the repeated interval of the look reached.
 */
export const estimatesOf = (
  pairs: readonly Pair[],
  level: number,
  seed: number,
  looks?: readonly number[],
): Estimate[] => {
  if (pairs.length === 0) return [];
  const rounds = Math.max(...pairs.map((one) => one.differences.length));
  const at = reached(looks, rounds);
  const padded = pairs.map(({ differences }) => {
    const all = new Float64Array(rounds).fill(NaN);
    all.set(differences);
    return all;
  });
  const family = padded.map((all) =>
    at.map((end) => {
      const ranks = new Float64Array(rounds);
      ranks.set(signedRanks(all.subarray(0, end)));
      return ranks;
    }),
  );
  const distribution = nullOf(family, seed);
  const spent = at.map((end) => spentAt(end / Math.max(rounds, ...(looks ?? [])), level));
  const critical = criticalValues(distribution, spent);
  const bound = critical.at(-1)!;
  const least = smallestP(distribution, critical);
  return pairs.map((pair, member) => {
    const values = sortedCopy(presentDifferences(pair));
    const [low, high] = intervalOf(values, bound);
    return {
      pair,
      rounds: values.length,
      estimate: hodgesLehmann(values),
      low,
      high,
      p: pValue(distribution, critical, statisticOf(family[member]!.at(-1)!)),
      smallestP: least,
      ownLevel: signedRankTail(values.length, bound, true),
      sd: standardDeviation(Array.from(values)),
    };
  });
};

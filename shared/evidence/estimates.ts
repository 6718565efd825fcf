/** A family of comparisons in one session: estimate, interval and p of each, all at once. Pure. */
import { sortedCopy, standardDeviation } from '../statistics.ts';
import { presentDifferences, type Pair } from './pairs.ts';
import { hodgesLehmann, type SignedRanks, signedRanks } from './ranks.ts';
import { normalQuantile, normalTail } from './distributions.ts';
import { COUNTED, exactTest, intervalOf, signedRankTail, smallestReachable } from './signed-rank.ts';
import { criticalValues, type Looks, nullOf, pValue, smallestP, statisticOf } from './sign-flips.ts';
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

/** What the family's test says of each member: the critical |T| is the same for all. `spent`: the level that it amounts to. */
interface FamilyTest {
  critical: number;
  spent: number;
  p: number[];
  smallestP: number;
}

/** One comparison alone: counted out, or where the rounds are many by the normal approximation. */
const aloneTest = (ranks: SignedRanks, level: number): FamilyTest => {
  const rounds = ranks.sizes.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
  if (rounds > COUNTED)
    return {
      critical: normalQuantile(1 - level / 2),
      spent: level,
      p: [Math.min(1, 2 * normalTail(statisticOf(ranks)))],
      smallestP: smallestReachable(rounds),
    };
  const { critical, p, smallestP: least } = exactTest(ranks, level);
  return { critical, spent: level, p: [p], smallestP: least };
};

/** A family, or planned looks, go through the joint sign flips. */
const testOf = (family: readonly Looks[], spent: readonly number[], seed: number): FamilyTest => {
  const last = family.map((one) => one.at(-1)!);
  if (family.length === 1 && spent.length === 1) return aloneTest(last[0]!, spent[0]!);
  const distribution = nullOf(family, seed);
  const critical = criticalValues(distribution, spent);
  return {
    critical: critical.at(-1)!,
    spent: spent.at(-1)!,
    p: last.map((one) => pValue(distribution, critical, statisticOf(one))),
    smallestP: smallestP(distribution, critical),
  };
};

/** Ranks of the first `end` rounds; later rounds are absent. */
const ranksAt = ({ differences }: Pair, end: number, rounds: number): SignedRanks => {
  const seen = new Float64Array(rounds).fill(NaN);
  seen.set(differences.subarray(0, end));
  return signedRanks(seen);
};

/** The least that an interval's end on the log scale may be apart from 0 and its ratio still from 1. */
const APART = 2 ** -52;

/**
 * An interval that says of 0 what p says. With ties at 0 the test of 0 itself is another than those of the values beside
 * it: the interval may end at 0 without 0, or hold it by what lies on its other side.
 */
const agreeing = ([low, high]: [number, number], refused: boolean, side: number): [number, number] => {
  if (!refused) return [Math.min(low, 0), Math.max(high, 0)];
  if (low > 0 || high < 0) return [low, high];
  return side < 0 ? [Math.min(low, -APART), -APART] : [APART, Math.max(high, APART)];
};

/**
 * Hodges–Lehmann estimates with intervals inverted from the joint sign-flip test of the whole family, so that p ≤ level
 * exactly where the interval leaves 0 out. With planned looks it is the repeated interval of the look reached; a p that does
 * not cross there has what later looks may spend added, as they count as spent.
 */
export const estimatesOf = (
  pairs: readonly Pair[],
  level: number,
  seed: number,
  looks: readonly number[] = [],
): Estimate[] => {
  if (pairs.length === 0) return [];
  const rounds = Math.max(...pairs.map((one) => one.differences.length));
  const reached = [...looks.filter((one) => one < rounds), rounds];
  const planned = Math.max(rounds, ...looks);
  const family = pairs.map((pair) => reached.map((end) => ranksAt(pair, end, rounds)));
  const {
    critical,
    spent,
    p,
    smallestP: least,
  } = testOf(
    family,
    reached.map((end) => spentAt(end / planned, level)),
    seed,
  );
  return pairs.map((pair, member) => {
    const values = sortedCopy(presentDifferences(pair));
    const refused = p[member]! <= spent + 1e-12;
    const side = family[member]!.at(-1)!.signed.reduce((sum, one) => sum + one, 0);
    const [low, high] = agreeing(intervalOf(values, critical), refused, side);
    return {
      pair,
      rounds: values.length,
      estimate: Math.min(high, Math.max(low, hodgesLehmann(values))),
      low,
      high,
      p: refused ? p[member]! : Math.min(1, p[member]! + level - spent),
      smallestP: least,
      ownLevel: signedRankTail(values.length, critical, true),
      sd: standardDeviation(Array.from(values)),
    };
  });
};

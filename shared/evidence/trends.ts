/** Doubts from the course of a session: rounds that can't be exchanged, so that its intervals promise too much. Pure. */
import { mean, standardDeviation } from '../statistics.ts';
import type { Doubt } from '../../schemas/analysis.ts';
import { DEFAULTS, type EvidenceInput, type Reading } from './input.ts';
import {
  driftStatistic,
  firstRoundsP,
  type Grouped,
  groupMeans,
  groupStatistic,
  permutationP,
  rankScores,
  theilSen,
  togetherStatistic,
  wanderStatistic,
} from './permuting-rounds.ts';
import { generator, type Random } from './random.ts';
import { groupedBy, type SessionFacts, trifle } from './session-facts.ts';
import { pText } from './sentences.ts';

/** Level of each test; six of them may fire on a clean session, and together in one of twenty (checked in test/truth). */
export const TREND_LEVEL = 0.006;

/** Fewer rounds have no course. */
const FEWEST = 6;

/** Clocks that move less than this (share, between the samples of a pair) move no result. */
const STEADY_CLOCK = 0.002;

const percent = (logarithm: number): string => `${(100 * Math.expm1(Math.abs(logarithm))).toFixed(1)} %`;

const fires = (name: string, p: number, sentence: string): Doubt => ({
  name,
  value: p,
  threshold: TREND_LEVEL,
  sentence: `${sentence} (${pText(p)})`,
});

/** The series with the largest value of `of`. */
const largest = <T>(items: readonly T[], of: (one: T) => number): T =>
  items.reduce((best, one) => (of(one) > of(best) ? one : best));

/** Candidate over reference moves in one direction during the session. */
const drift = (facts: SessionFacts, random: Random, least: number): Doubt[] => {
  const p = permutationP(
    facts.rounds,
    driftStatistic(facts.pairs.map((one) => rankScores(one.differences))),
    random,
  );
  if (p > TREND_LEVEL) return [];
  const { pair, total } = largest(
    facts.pairs.map((one) => {
      const rounds = Array.from(one.differences.keys()).filter((at) => !Number.isNaN(one.differences[at]!));
      const slope = theilSen(
        rounds,
        rounds.map((at) => one.differences[at]!),
      );
      return { pair: one, total: slope * (facts.rounds - 1) };
    }),
    (one) => Math.abs(one.total),
  );
  if (!pair.metric.signed && Math.abs(total) < least) return [];
  const size = pair.metric.signed ? '' : ` by ${percent(total)}`;
  return [
    fires(
      'drift',
      p,
      `${pair.target} against the reference drifts${size} from the first round to the last, on ${pair.metric.key} at ${pair.turns} turns`,
    ),
  ];
};

/** Neighbouring rounds are alike: fewer independent rounds than it seems. Series that hardly vary are left out. */
const wandering = (facts: SessionFacts, random: Random, least: number): Doubt[] => {
  const moving = facts.pairs.filter(({ metric, differences }) => {
    const known = differences.filter((one) => !Number.isNaN(one));
    return metric.signed || Math.max(...known) - Math.min(...known) >= least;
  });
  if (moving.length === 0) return [];
  const scores = moving.map((one) => rankScores(one.differences));
  const p = permutationP(facts.rounds, wanderStatistic(scores), random);
  if (p > TREND_LEVEL) return [];
  const what = 'neighbouring rounds resemble each other, so the interval is too narrow for so many rounds';
  return [fires('wandering', p, what)];
};

/** The first rounds stand out from the rest, on the slow side, in all targets together. */
const warmup = (facts: SessionFacts, random: Random, least: number): Doubt[] => {
  const first = Math.max(2, Math.floor(facts.rounds / 4));
  const slowUp = facts.tracks
    .filter((one) => !one.metric.signed)
    .map(({ values, metric }) => (metric.better === 'lower' ? values : values.map((one) => -one)));
  if (slowUp.length === 0) return [];
  const above = mean(
    slowUp.map((values) => {
      const of = (from: number, to: number) => {
        const known = Array.from(values.subarray(from, to)).filter((one) => !Number.isNaN(one));
        return known.length === 0 ? 0 : mean(known);
      };
      return of(0, first) - of(first, values.length);
    }),
  );
  if (!(above >= least)) return [];
  const p = firstRoundsP(
    slowUp.map((one) => rankScores(one)),
    facts.rounds,
    first,
    random,
  );
  if (p > TREND_LEVEL) return [];
  return [
    fires(
      'warmup',
      p,
      `the first ${first} rounds are ${percent(above)} slower than the rest; give the session warm-up rounds`,
    ),
  ];
};

/** Rounds whose sample stood elsewhere in the order, or came after another target, differ. */
const groups = (
  name: string,
  all: readonly Grouped[],
  facts: SessionFacts,
  random: Random,
  least: number,
  what: string,
): Doubt[] => {
  if (all.length === 0) return [];
  const spread = Math.max(
    ...all.map((one) => {
      const means = groupMeans(one).filter((known) => known !== null);
      return means.length < 2 ? 0 : Math.max(...means) - Math.min(...means);
    }),
  );
  if (!(spread >= least)) return [];
  const p = permutationP(facts.rounds, groupStatistic(all), random);
  if (p > TREND_LEVEL) return [];
  return [fires(name, p, `a sample ${what} by ${percent(spread)}`)];
};

/** Two groupings that divide every series the same way are one question. */
const sameDivision = (a: readonly Grouped[], b: readonly Grouped[]): boolean =>
  a.length === b.length &&
  a.every(({ groups: mine }, at) => {
    const pairs = new Set(
      Array.from(mine, (one, round) => `${one} ${b[at]!.groups[round]}`).filter((one) => !one.includes('-1')),
    );
    return pairs.size === a[at]!.count && pairs.size === b[at]!.count;
  });

/** The clock of the two samples of a round, and which is faster, move together: mhz readings, else the speed probe. */
const clock = (facts: SessionFacts, reference: string, random: Random): Doubt[] => {
  for (const [read, direction, what] of [
    [(one: Reading) => one.mhz, -1, 'the clock'],
    [(one: Reading) => one.speedMs, 1, 'the speed probe'],
  ] as const) {
    const moved = facts.pairs
      .filter((one) => one.metric.basis !== 'count' && !one.metric.signed)
      .flatMap(({ target, turns, metric, differences }) => {
        const ratios = differences.map((_, round) => {
          const [mine, theirs] = [target, reference].map((name) => {
            const reading = facts.readingOf(name, turns, round);
            return reading && read(reading);
          });
          return mine !== undefined && theirs !== undefined && mine > 0 && theirs > 0
            ? Math.log(mine / theirs)
            : NaN;
        });
        const known = Array.from(ratios).filter((one) => !Number.isNaN(one));
        if (known.length < FEWEST || standardDeviation(known) < STEADY_CLOCK) return [];
        const slowUp = metric.better === 'lower' ? differences : differences.map((one) => -one);
        return [[rankScores(slowUp), rankScores(ratios)] as const];
      });
    if (moved.length === 0) continue;
    const p = permutationP(facts.rounds, togetherStatistic(moved, direction), random);
    return p > TREND_LEVEL
      ? []
      : [
          fires(
            'clock',
            p,
            `times move with ${what} from sample to sample; part of the difference is the machine's`,
          ),
        ];
  }
  return [];
};

/** Every doubt about the order of rounds and samples in one session. */
export const roundTrends = (input: EvidenceInput, facts: SessionFacts): Doubt[] => {
  if (facts.rounds < FEWEST || facts.pairs.length === 0) return [];
  const random = generator(input.seed ?? DEFAULTS.seed);
  const least = trifle(input);
  const byPlace = groupedBy(facts, (one) => String(one.position));
  const byPredecessor = groupedBy(facts, (one) => one.predecessor);
  const drifts = drift(facts, random, least);
  return [
    // A drift makes neighbours alike too; it is named once.
    ...(drifts.length > 0 ? drifts : wandering(facts, random, least)),
    ...warmup(facts, random, least),
    ...groups('order', byPlace, facts, random, least, 'depends on its place in the round'),
    ...(sameDivision(byPlace, byPredecessor)
      ? []
      : groups('predecessor', byPredecessor, facts, random, least, 'depends on the target before it')),
    ...clock(facts, input.reference, random),
  ];
};

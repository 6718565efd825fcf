/** Doubts from the course of a session: rounds that can't be exchanged, so that its intervals promise too much. Pure. */
import { atSize } from '../sizes.ts';
import { mean, standardDeviation } from '../statistics.ts';
import { DEFAULTS, type EvidenceInput, type Reading, type SessionDoubt } from './input.ts';
import { logRatio, type Pair } from './pairs.ts';
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
  trueOrder,
  wanderStatistic,
} from './permuting-rounds.ts';
import { generator, type Random } from './random.ts';
import { groupedBy, MOST_ROUNDS, type SessionFacts, trifle } from './session-facts.ts';
import { pText } from '../p-value.ts';

/**
 * Level of each test; six of them may fire on a clean session, and together in one of twenty-five (checked in test/truth).
 * The larger one is for what misleads most and shows least.
 */
const TREND_LEVELS = {
  drift: 0.006,
  wandering: 0.01,
  warmup: 0.006,
  order: 0.006,
  predecessor: 0.006,
  clock: 0.006,
} as const;
type Trend = keyof typeof TREND_LEVELS;

/** Fewer rounds have no course. */
const FEWEST = 6;

/** Clocks that move less than this (share, between the samples of a pair) move no result. */
const STEADY_CLOCK = 0.002;

const percent = (logarithm: number): string => `${(100 * Math.expm1(Math.abs(logarithm))).toFixed(1)} %`;

/** The doubt, when p is at most the level of its test; `sentence` is only made then. */
const fires = (name: Trend, p: number, sentence: () => string): SessionDoubt[] =>
  p <= TREND_LEVELS[name]
    ? [
        {
          name,
          value: p,
          threshold: TREND_LEVELS[name],
          side: 'below',
          sentence: `${sentence()} (${pText(p)})`,
        },
      ]
    : [];

/** The series with the largest value of `of`. */
const largest = <T>(items: readonly T[], of: (one: T) => number): T =>
  items.reduce((best, one) => (of(one) > of(best) ? one : best));

/** What a series moves from the first round to the last, by its Theil–Sen slope. */
const moved = ({ differences }: Pair): number => {
  const rounds = Array.from(differences.keys()).filter((at) => !Number.isNaN(differences[at]!));
  const values = rounds.map((at) => differences[at]!);
  return theilSen(rounds, values) * (differences.length - 1);
};

/**
 * Candidate over reference moves in one direction during the session. Named is the series that stands out most of those that
 * move by more than a trifle; its p is that of the largest of all series (max-T), so that several cost no error.
 */
const drift = (
  input: EvidenceInput,
  { rounds, pairs }: SessionFacts,
  random: Random,
  least: number,
): SessionDoubt[] => {
  const scored = pairs.map((pair) => ({ pair, scores: rankScores(pair.differences) }));
  const all = driftStatistic(scored.map((one) => one.scores));
  if (permutationP(rounds, all, random) > TREND_LEVELS.drift) return [];
  const moving = scored
    .map(({ pair, scores }) => ({
      pair,
      stands: driftStatistic([scores])(trueOrder(rounds)),
      total: moved(pair),
    }))
    .filter(({ pair, total }) => pair.metric.signed || Math.abs(total) >= least);
  if (moving.length === 0) return [];
  const { pair, stands, total } = largest(moving, (one) => one.stands);
  const p = permutationP(rounds, all, random, stands);
  const size = pair.metric.signed ? '' : ` by ${percent(total)}`;
  const { target, turns, metric } = pair;
  return fires(
    'drift',
    p,
    () =>
      `${target} against the reference drifts${size} from the first round to the last, on ${metric.key} ${atSize(turns, input)}`,
  ).map((one) => ({
    ...one,
    ...(target === input.control ? {} : { candidate: target }),
    turns,
    metric: metric.key,
  }));
};

/** Neighbouring rounds are alike: fewer independent rounds than it seems. Series that hardly vary are left out. */
const wandering = ({ rounds, pairs }: SessionFacts, random: Random, least: number): SessionDoubt[] => {
  const varying = pairs.filter(({ metric, differences }) => {
    const known = differences.filter((one) => !Number.isNaN(one));
    return metric.signed || Math.max(...known) - Math.min(...known) >= least;
  });
  if (varying.length === 0) return [];
  const scores = varying.map((one) => rankScores(one.differences));
  return fires(
    'wandering',
    permutationP(rounds, wanderStatistic(scores), random),
    () => 'neighbouring rounds resemble each other, so the interval is too narrow for so many rounds',
  );
};

/** Each round's height: the mean over all series, each about its own mean; absent values count as that mean. */
const heightsOf = (all: readonly Float64Array[]): number[] => {
  const centred = all.map((values) => {
    const known = Array.from(values).filter((one) => !Number.isNaN(one));
    const middle = known.length === 0 ? 0 : mean(known);
    return Array.from(values, (one) => (Number.isNaN(one) ? 0 : one - middle));
  });
  return Array.from(centred[0]!.keys(), (round) => mean(centred.map((one) => one[round]!)));
};

/**
 * How far the first rounds stand above every later stretch of as many rounds: a machine that is slow now and then stands as
 * high again.
 */
const standsOut = (heights: readonly number[], first: number): number => {
  const level = (from: number): number => mean(heights.slice(from, from + first));
  const later = Array.from({ length: heights.length - 2 * first + 1 }, (_, at) => level(first + at));
  return level(0) - Math.max(...later);
};

/** The first rounds stand out from all that follow, on the slow side, in all targets together. */
const warmup = ({ rounds, tracks }: SessionFacts, random: Random, least: number): SessionDoubt[] => {
  const first = Math.max(2, Math.floor(rounds / 4));
  const slowUp = tracks
    .filter((one) => !one.metric.signed && one.values.length === rounds)
    .map(({ values, metric }) => (metric.better === 'lower' ? values : values.map((one) => -one)));
  if (slowUp.length === 0) return [];
  const above = standsOut(heightsOf(slowUp), first);
  if (!(above >= least)) return [];
  const scores = slowUp.map((one) => rankScores(one));
  return fires(
    'warmup',
    firstRoundsP(scores, rounds, first, random),
    () =>
      `the first ${first} rounds are at least ${percent(above)} slower than all later ones; give the session warm-up rounds`,
  );
};

/** How far the groups of a series are apart. */
const apart = (grouped: Grouped): number => {
  const means = groupMeans(grouped).filter((one) => one !== null);
  return means.length < 2 ? 0 : Math.max(...means) - Math.min(...means);
};

/** Rounds whose sample stood elsewhere in the order, or came after another target, differ: as with drifts, the series is named that stands out. */
const groups = (
  name: 'order' | 'predecessor',
  all: readonly Grouped[],
  random: Random,
  least: number,
  on: string,
): SessionDoubt[] => {
  const far = all.filter((one) => apart(one) >= least);
  if (far.length === 0) return [];
  const rounds = all[0]!.values.length;
  const stands = (one: Grouped): number => groupStatistic([one])(trueOrder(rounds));
  const most = largest(far, stands);
  return fires(
    name,
    permutationP(rounds, groupStatistic(all), random, stands(most)),
    () => `a sample depends on ${on} by ${percent(apart(most))}`,
  );
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

/** Log-ratios of a reading between a pair's two samples, by round; NaN where either has none. */
const readingRatios = (facts: SessionFacts, pair: Pair, reference: string, read: Read): Float64Array =>
  pair.differences.map((_, round) => {
    const [mine, theirs] = [pair.target, reference].map((name) => {
      const reading = facts.readingOf(name, pair.turns, round);
      return (reading && read(reading)) ?? 0;
    });
    return mine! > 0 && theirs! > 0 ? logRatio(mine!, theirs!) : NaN;
  });

type Read = (reading: Reading) => number | undefined;

/** Clocks, the better one first: how a reading moves with time, and what the words call it. */
const CLOCKS: readonly { read: Read; direction: 1 | -1; name: string }[] = [
  { read: (one) => one.mhz, direction: -1, name: 'the clock' },
  { read: (one) => one.speedMs, direction: 1, name: 'the speed probe' },
];

/** The clock of the two samples of a round, and which is faster, move together: mhz readings, else the speed probe. */
const clock = (facts: SessionFacts, reference: string, random: Random): SessionDoubt[] => {
  const times = facts.pairs.filter(({ metric }) => metric.basis !== 'count' && !metric.signed);
  for (const { read, direction, name } of CLOCKS) {
    const together = times.flatMap((pair) => {
      const ratios = readingRatios(facts, pair, reference, read);
      const known = Array.from(ratios).filter((one) => !Number.isNaN(one));
      if (known.length < FEWEST || standardDeviation(known) < STEADY_CLOCK) return [];
      const slowUp = pair.metric.better === 'lower' ? pair.differences : pair.differences.map((one) => -one);
      return [[rankScores(slowUp), rankScores(ratios)] as const];
    });
    if (together.length === 0) continue;
    return fires(
      'clock',
      permutationP(facts.rounds, togetherStatistic(together, direction), random),
      () => `times move with ${name} from sample to sample; part of the difference is the machine's`,
    );
  }
  return [];
};

/** Every doubt about the order of rounds and samples in one session. */
export const roundTrends = (input: EvidenceInput, facts: SessionFacts): SessionDoubt[] => {
  if (facts.rounds < FEWEST || facts.rounds > MOST_ROUNDS || facts.pairs.length === 0) return [];
  const random = generator(input.seed ?? DEFAULTS.seed);
  const least = trifle(input);
  const byPlace = groupedBy(facts, (one) => String(one.position));
  const byPredecessor = groupedBy(facts, (one) => one.predecessor);
  const drifts = drift(input, facts, random, least);
  return [
    // A drift makes neighbours alike too; it is named once.
    ...(drifts.length > 0 ? drifts : wandering(facts, random, least)),
    ...warmup(facts, random, least),
    ...groups('order', byPlace, random, least, 'its place in the round'),
    ...(sameDivision(byPlace, byPredecessor)
      ? []
      : groups('predecessor', byPredecessor, random, least, 'the target before it')),
    ...clock(facts, input.reference, random),
  ];
};

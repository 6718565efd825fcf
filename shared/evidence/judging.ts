/** From estimates to conclusions: the interval against the margin, and what is missing where it can't be told. Pure. */
import { mean } from '../statistics.ts';
import { estimatesOf, type Estimate } from './estimates.ts';
import {
  DEFAULTS,
  type EvidenceInput,
  type Judged,
  type Metric,
  type Session,
  type Unjudged,
  type Word,
} from './input.ts';
import { marginOf, type Pair, pairOf, ratioOf } from './pairs.ts';
import { sessionsFor, sessionVariance } from './planning.ts';
import { pooled } from './random-effects.ts';
import { sentenceOf } from './sentences.ts';
import { detectableShift, EFFICIENCY, roundsFor } from './power.ts';

/** From this many sessions on they are judged together; fewer are shown one by one. */
export const POOLED_FROM = 5;

/** Further rounds and sessions beyond these are no advice: the difference sits at the margin. */
const MOST_ROUNDS = 200;
const MOST_SESSIONS = 100;

/** What an interval says: faster and slower lie wholly beyond the margin, same wholly within it. All on the pair's scale. */
export const wordOf = (low: number, high: number, margin: number, better: Metric['better']): Word => {
  if (low > margin) return better === 'lower' ? 'slower' : 'faster';
  if (high < -margin) return better === 'lower' ? 'faster' : 'slower';
  return low >= -margin && high <= margin ? 'same' : 'cant-tell';
};

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Estimate and interval of one comparison, from rounds or from sessions, before it is put into words. */
export interface Found {
  pair: Pair;
  estimate: number;
  low: number;
  high: number;
  p: number;
}

/** The estimate in the format's fields: a ratio, or for signed metrics a difference. */
const numbersOf = ({ pair, estimate, low, high, p }: Found) => {
  if (pair.metric.signed) {
    const unit = pair.metric.unit === undefined ? {} : { unit: pair.metric.unit };
    return {
      ratio: null,
      low: null,
      high: null,
      p,
      difference: { estimate, low: finiteOrNull(low), high: finiteOrNull(high), ...unit },
    };
  }
  return { ratio: ratioOf(estimate), low: ratioOf(low), high: ratioOf(high), p };
};

/** Whether the control pair differs: its interval leaves 0 out. */
const controlOf = (found: Found) => {
  const { ratio, low, high, p } = numbersOf(found);
  return { ratio, low, high, p, differs: found.low > 0 || found.high < 0 };
};

/** How far the estimate lies from the margin: beyond it for faster and slower, within it for same. */
const distanceOf = (found: Found, margin: number): number => Math.abs(Math.abs(found.estimate) - margin);

/** A change of `shift` on the pair's scale as a share; signed metrics: of the reference. */
const shareOf = (shift: number, pair: Pair): number =>
  pair.metric.signed ? shift / Math.abs(pair.referenceMedian) : Math.expm1(shift);

/** The families of one session: each candidate, or the control, against the reference. */
export const familyOf = (
  input: EvidenceInput,
  session: Session,
  targets: readonly string[],
  wanted: (metric: Metric) => boolean,
): { pairs: Pair[]; unjudged: Unjudged[] } => {
  const pairs: Pair[] = [];
  const unjudged: Unjudged[] = [];
  for (const candidate of targets)
    for (const turns of input.turns)
      for (const metric of input.metrics.filter(wanted)) {
        const pair = pairOf(input, session, candidate, turns, metric);
        if ('reason' in pair)
          unjudged.push({ session: session.name, candidate, turns, metric: metric.key, reason: pair.reason });
        else pairs.push(pair);
      }
  return { pairs, unjudged };
};

const isPrimary = (metric: Metric): boolean => metric.primary;

/** The same comparison of another target. */
const sameQuestion = (one: Pair, other: Pair): boolean =>
  one.turns === other.turns && one.metric.key === other.metric.key;

const settings = (input: EvidenceInput) => ({
  margin: input.margin ?? DEFAULTS.margin,
  level: input.level ?? DEFAULTS.level,
  seed: input.seed ?? DEFAULTS.seed,
});

/** Fields that all conclusions have, and the words. */
const concluded = (
  input: EvidenceInput,
  found: Found,
  rest: Pick<Judged, 'rounds' | 'scope' | 'family'> & Partial<Judged>,
  controls: readonly Found[],
): Judged => {
  const { margin } = settings(input);
  const { pair } = found;
  const answer = controls.find((one) => sameQuestion(one.pair, pair));
  const control = answer === undefined ? {} : { control: controlOf(answer) };
  const differs = controls.some((one) => controlOf(one).differs);
  const word = wordOf(found.low, found.high, marginOf(pair, margin), pair.metric.better);
  const judged: Omit<Judged, 'sentence'> = {
    candidate: pair.target,
    turns: pair.turns,
    metric: pair.metric.key,
    basis: pair.metric.basis,
    conclusion: differs ? 'cant-tell' : word,
    ...numbersOf(found),
    margin,
    ...rest,
    ...control,
  };
  if (judged['conclusion'] !== 'cant-tell' || differs) delete judged.settle;
  return {
    ...judged,
    sentence: sentenceOf(judged as Judged, { input, metric: pair.metric, differs }),
  } as Judged;
};

const settledBy = (settle: NonNullable<Judged['settle']>): Partial<Judged> =>
  Object.keys(settle).length === 0 ? {} : { settle };

/** One session by itself. */
const oneSession = (
  input: EvidenceInput,
  session: Session,
  alone: boolean,
): { judged: Judged[]; unjudged: Unjudged[] } => {
  const { margin, level, seed } = settings(input);
  const { pairs, unjudged } = familyOf(input, session, input.candidates, isPrimary);
  const estimates = estimatesOf(pairs, level, seed, input.looks);
  const controls = controlEstimates(input, session);
  const judged = estimates.map((one) => {
    const far = marginOf(one.pair, margin);
    const least = detectableShift(one.rounds, one.ownLevel, DEFAULTS.power) * one.sd;
    const detectable = shareOf(far + least, one.pair);
    const rounds =
      one.sd > 0
        ? roundsFor(distanceOf(one, far) / one.sd, level / estimates.length, DEFAULTS.power, MOST_ROUNDS)
        : null;
    return concluded(
      input,
      one,
      {
        rounds: one.rounds,
        scope: 'session',
        family: estimates.length,
        ...(alone ? {} : { session: session.name }),
        smallestP: one.smallestP,
        ...(one.ownLevel === 0 ? { underpowered: true } : {}),
        ...(Number.isFinite(detectable) ? { detectable } : {}),
        withinSd: one.sd,
        ...settledBy(rounds !== null && rounds > one.rounds ? { rounds: rounds - one.rounds } : {}),
      },
      controls,
    );
  });
  return { judged, unjudged };
};

const controlEstimates = (input: EvidenceInput, session: Session): Estimate[] => {
  if (input.control === undefined) return [];
  const { level, seed } = settings(input);
  return estimatesOf(familyOf(input, session, [input.control], isPrimary).pairs, level, seed, input.looks);
};

/** Estimates of the same question in every session, pooled; `family` is how many questions share the level. */
const pooledSessions = (rows: readonly (readonly Estimate[])[], level: number) =>
  (rows[0] ?? [])
    .map((first) =>
      rows.flatMap((row) =>
        row.filter((one) => one.pair.target === first.pair.target && sameQuestion(one.pair, first.pair)),
      ),
    )
    .filter((same) => same.length === rows.length)
    .map((same, _, all) => {
      // One variance of a round for all sessions: few rounds each would make the weights a lottery.
      const freedom = same.reduce((sum, one) => sum + one.rounds - 1, 0);
      const within =
        same.reduce((sum, one) => sum + (one.rounds - 1) * one.sd ** 2, 0) / Math.max(1, freedom);
      const variances = same.map((one) => within / (one.rounds * EFFICIENCY));
      const result = pooled(
        same.map((one) => one.estimate),
        variances,
        level / all.length,
      );
      const p = Math.min(1, result.p * all.length);
      return { same, within, found: { ...result, p, pair: same[0]!.pair }, family: all.length };
    });

/** Five sessions or more, together. */
const manySessions = (input: EvidenceInput): { judged: Judged[]; unjudged: Unjudged[] } => {
  const { margin, level, seed } = settings(input);
  const families = input.sessions.map((session) => familyOf(input, session, input.candidates, isPrimary));
  const rows = families.map(({ pairs }) => estimatesOf(pairs, level, seed));
  const controls = pooledSessions(
    input.sessions.map((session) => controlEstimates(input, session)),
    level,
  ).map((one) => one.found);
  const judged = pooledSessions(rows, level).map(({ same, within, found, family }) => {
    const noise = { withinSd: Math.sqrt(within), betweenSd: Math.sqrt(found.between) };
    const each = mean(same.map((one) => one.rounds));
    const variance = sessionVariance(noise, each);
    const far = marginOf(
      { ...found.pair, referenceMedian: mean(same.map((one) => one.pair.referenceMedian)) },
      margin,
    );
    const count = sessionsFor(distanceOf(found, far), variance, level / family, DEFAULTS.power);
    const more = count === null ? null : count - same.length;
    return concluded(
      input,
      found,
      {
        rounds: same.reduce((sum, one) => sum + one.rounds, 0),
        scope: 'sessions',
        sessions: same.length,
        family,
        ...noise,
        ...settledBy(more !== null && more > 0 && more <= MOST_SESSIONS ? { sessions: more } : {}),
      },
      controls,
    );
  });
  return { judged, unjudged: families.flatMap((one) => one.unjudged) };
};

/** Conclusions about every primary metric, size and candidate: of each session while they are few, else of all together. */
export const conclusionsOf = (input: EvidenceInput): { judged: Judged[]; unjudged: Unjudged[] } => {
  if (input.sessions.length >= POOLED_FROM) return manySessions(input);
  const each = input.sessions.map((session) => oneSession(input, session, input.sessions.length === 1));
  return { judged: each.flatMap((one) => one.judged), unjudged: each.flatMap((one) => one.unjudged) };
};

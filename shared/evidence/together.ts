/** Several sessions as blocks: what varies between them; from five on they are judged together. Pure. */
import { mean } from '../statistics.ts';
import { concluded, detectableOf, distanceOf, type Found, unanswered } from './conclusions.ts';
import type { Estimate } from './estimates.ts';
import { controlEstimates, estimatesIn, familyOf, isPrimary, sameQuestion, settingsOf } from './families.ts';
import { DEFAULTS, type EvidenceInput, type Judged } from './input.ts';
import { isPair, marginOf, type NoPair, type Pair } from './pairs.ts';
import { middleSd, sessionsFor, sessionVariance } from './planning.ts';
import { detectableErrors, EFFICIENCY } from './power.ts';
import { pooled } from './random-effects.ts';

/** From this many sessions on they are judged together; fewer are shown one by one. */
export const POOLED_FROM = 5;

/** More further sessions than these are no advice: the difference sits at the margin. */
const MOST_SESSIONS = 100;

/** One question over all sessions. */
interface Together {
  found: Found;
  /** The question's estimate in each session. */
  each: Estimate[];
  withinSd: number;
  betweenSd: number;
}

/** The estimates of a question in every session, pooled; `level` is this question's share. */
const pool = (each: Estimate[], level: number, share: number): Together => {
  // One variance of a round for all sessions: few rounds each would make the weights a lottery.
  const freedom = each.reduce((sum, one) => sum + one.rounds - 1, 0);
  const within = each.reduce((sum, one) => sum + (one.rounds - 1) * one.sd ** 2, 0) / Math.max(1, freedom);
  const { between, ...result } = pooled(
    each.map((one) => one.estimate),
    each.map((one) => within / (one.rounds * EFFICIENCY)),
    level / share,
  );
  const pair = { ...each[0]!.pair, referenceMedian: mean(each.map((one) => one.pair.referenceMedian)) };
  const found = { ...result, pair, p: Math.min(1, result.p * share) };
  return { found, each, withinSd: Math.sqrt(within), betweenSd: Math.sqrt(between) };
};

/** Every question that all sessions answer; they share the level evenly (a handful of blocks has too few sign flips for max-T). */
const poolAll = (rows: readonly (readonly Estimate[])[], level: number): Together[] =>
  rows[0]!
    .map(({ pair }) =>
      rows.flatMap((row) =>
        row.filter((one) => one.pair.target === pair.target && sameQuestion(one.pair, pair)),
      ),
    )
    .filter((each) => each.length === rows.length)
    .map((each, _, all) => pool(each, level, all.length));

/** Variance of one session's estimate around the program's effect. */
const varianceOf = ({ each, withinSd, betweenSd }: Together): number =>
  sessionVariance({ withinSd, betweenSd }, mean(each.map(({ rounds }) => rounds)));

/** How many more sessions like these would settle the question, when they are judged together. */
const settledBy = (input: EvidenceInput, one: Together, family: number): { sessions?: number } => {
  const { margin, level } = settingsOf(input);
  const count = one.each.length;
  const distance = distanceOf(one.found, marginOf(one.found.pair, margin));
  const wanted = sessionsFor(distance, varianceOf(one), level / family, DEFAULTS.power);
  return wanted !== null && wanted > count && wanted <= count + MOST_SESSIONS
    ? { sessions: wanted - count }
    : {};
};

/** What the sessions have in common, while they are too few to be judged together: one for each question that all answer. */
export const betweenFew = (
  input: EvidenceInput,
  rows: readonly (readonly Estimate[])[],
): { pair: Pair; betweenSd: number; settle: { sessions?: number } }[] => {
  const all = poolAll(rows, settingsOf(input).level);
  return all.map((one) => ({
    pair: one.found.pair,
    betweenSd: one.betweenSd,
    settle: settledBy(input, one, all.length),
  }));
};

const concludedTogether = (
  input: EvidenceInput,
  one: Together,
  family: number,
  controls: Found[],
): Judged => {
  const { margin, level } = settingsOf(input);
  const { found, each, withinSd, betweenSd } = one;
  const count = each.length;
  const far = marginOf(found.pair, margin);
  const settle = settledBy(input, one, family);
  const error = middleSd(Math.sqrt(varianceOf(one) / count), count - 1);
  const least = detectableErrors(count - 1, level / family, DEFAULTS.power) * error;
  const ground = {
    rounds: each.reduce((sum, { rounds }) => sum + rounds, 0),
    scope: 'sessions',
    sessions: count,
    family,
    ...detectableOf(far + least, found.pair),
    withinSd,
    betweenSd,
    ...(settle.sessions === undefined ? {} : { settle }),
  } as const;
  return concluded(input, found, ground, controls);
};

/** Conclusions over all sessions, in the order of the questions; one that a session can't answer is not answered. */
export const sessionsTogether = (input: EvidenceInput): Judged[] => {
  const { level } = settingsOf(input);
  const families = input.sessions.map((session) => familyOf(input, session, input.candidates, isPrimary));
  const all = poolAll(
    families.map((family) => estimatesIn(input, family)),
    level,
  );
  const controls = poolAll(
    input.sessions.map((session) => controlEstimates(input, session)),
    level,
  ).map((one) => one.found);
  return families[0]!.map((question, at) => {
    const answer = all.find(
      ({ found }) => found.pair.target === question.target && sameQuestion(found.pair, question),
    );
    if (answer) return concludedTogether(input, answer, all.length, controls);
    const where = families.findIndex((family) => !isPair(family[at]!));
    const { reason, ...rest } = families[where]![at] as NoPair;
    const missing = { ...rest, reason: `session '${input.sessions[where]!.name}': ${reason}` };
    const sessions = input.sessions.length;
    return unanswered(input, missing, { rounds: 0, scope: 'sessions', sessions, family: all.length });
  });
};

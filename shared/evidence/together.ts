/** Five sessions or more, judged together: sessions are the blocks. Pure. */
import { mean } from '../statistics.ts';
import { concluded, detectableOf, distanceOf, type Found, unanswered } from './conclusions.ts';
import type { Estimate } from './estimates.ts';
import { controlEstimates, estimatesIn, familyOf, isPrimary, sameQuestion, settingsOf } from './families.ts';
import { DEFAULTS, type EvidenceInput, type Judged } from './input.ts';
import { isPair, marginOf, type NoPair } from './pairs.ts';
import { sessionsFor, sessionVariance } from './planning.ts';
import { detectableErrors, EFFICIENCY } from './power.ts';
import { pooled } from './random-effects.ts';

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

const concludedTogether = (
  input: EvidenceInput,
  one: Together,
  family: number,
  controls: Found[],
): Judged => {
  const { margin, level } = settingsOf(input);
  const { found, each, withinSd, betweenSd } = one;
  const count = each.length;
  const variance = sessionVariance({ withinSd, betweenSd }, mean(each.map(({ rounds }) => rounds)));
  const far = marginOf(found.pair, margin);
  const wanted = sessionsFor(distanceOf(found, far), variance, level / family, DEFAULTS.power);
  const least = detectableErrors(count - 1, level / family, DEFAULTS.power) * Math.sqrt(variance / count);
  const ground = {
    rounds: each.reduce((sum, { rounds }) => sum + rounds, 0),
    scope: 'sessions',
    sessions: count,
    family,
    ...detectableOf(far + least, found.pair),
    withinSd,
    betweenSd,
    ...(wanted !== null && wanted > count && wanted <= count + MOST_SESSIONS
      ? { settle: { sessions: wanted - count } }
      : {}),
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

/** Conclusions of a run: of each session while they are few, else of all together. Pure. */
import { concluded, detectableOf, distanceOf, unanswered } from './conclusions.ts';
import type { Estimate } from './estimates.ts';
import { controlEstimates, estimatesIn, familyOf, isPrimary, settingsOf } from './families.ts';
import { DEFAULTS, type EvidenceInput, type Judged, type Session } from './input.ts';
import { isPair, marginOf } from './pairs.ts';
import { detectableShift, roundsFor } from './power.ts';
import { sessionsTogether } from './together.ts';

/** From this many sessions on they are judged together; fewer are shown one by one. */
const POOLED_FROM = 5;

/** More rounds than these are no advice: the difference sits at the margin. */
const MOST_ROUNDS = 200;

/** What the estimate rests on, what it could have seen, and what would settle it. */
const groundOf = (one: Estimate, family: number, margin: number, level: number) => {
  const far = marginOf(one.pair, margin);
  const least = detectableShift(one.rounds, one.ownLevel, DEFAULTS.power) * one.sd;
  const wanted =
    one.sd > 0 ? roundsFor(distanceOf(one, far) / one.sd, level / family, DEFAULTS.power, MOST_ROUNDS) : null;
  return {
    rounds: one.rounds,
    scope: 'session',
    family,
    smallestP: one.smallestP,
    withinSd: one.sd,
    ...(one.ownLevel === 0 ? { underpowered: true } : {}),
    ...detectableOf(far + least, one.pair),
    ...(wanted !== null && wanted > one.rounds ? { settle: { rounds: wanted - one.rounds } } : {}),
  } as const;
};

/** One session by itself; its name is said when there are others. */
const oneSession = (input: EvidenceInput, session: Session): Judged[] => {
  const { margin, level } = settingsOf(input);
  const family = familyOf(input, session, input.candidates, isPrimary);
  const estimates = estimatesIn(input, family);
  const controls = controlEstimates(input, session);
  const named = input.sessions.length > 1 ? { session: session.name } : {};
  return family.map((one) => {
    if (!isPair(one))
      return unanswered(input, one, { rounds: 0, scope: 'session', family: estimates.length, ...named });
    const estimate = estimates.find(({ pair }) => pair === one)!;
    return concluded(
      input,
      estimate,
      { ...groundOf(estimate, estimates.length, margin, level), ...named },
      controls,
    );
  });
};

/** A conclusion about every primary metric, size and candidate. */
export const conclusionsOf = (input: EvidenceInput): Judged[] =>
  input.sessions.length >= POOLED_FROM
    ? sessionsTogether(input)
    : input.sessions.flatMap((session) => oneSession(input, session));

/** Whether every conclusion is reached: what `--stop-when decided` asks after each planned look. */
export const isDecided = (conclusions: readonly Judged[]): boolean =>
  conclusions.length > 0 && conclusions.every((one) => one.conclusion !== 'cant-tell');

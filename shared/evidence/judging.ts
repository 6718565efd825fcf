/** Conclusions of a run: of each session while they are few, else of all together. Pure. */
import { concluded, detectableOf, distanceOf, unanswered } from './conclusions.ts';
import type { Estimate } from './estimates.ts';
import { controlEstimates, estimatesIn, familyOf, isPrimary, sameQuestion, settingsOf } from './families.ts';
import { DEFAULTS, type EvidenceInput, type Judged, type Session } from './input.ts';
import { isPair, marginOf, type NoPair, type Pair } from './pairs.ts';
import { middleSd } from './planning.ts';
import { detectableShift, roundsFor } from './power.ts';
import { betweenFew, POOLED_FROM, sessionsTogether } from './together.ts';

/** More rounds than these are no advice: the difference sits at the margin. */
const MOST_ROUNDS = 200;

/** What the estimate rests on, what it could have seen, and what would settle it. */
const groundOf = (one: Estimate, family: number, margin: number, level: number) => {
  const far = marginOf(one.pair, margin);
  const least = detectableShift(one.rounds, one.ownLevel, DEFAULTS.power) * middleSd(one.sd, one.rounds - 1);
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

/** One session's questions, and what its rounds say of them. */
interface Asked {
  session: Session;
  family: (Pair | NoPair)[];
  estimates: Estimate[];
}

const askedOf = (input: EvidenceInput, session: Session): Asked => {
  const family = familyOf(input, session, input.candidates, isPrimary);
  return { session, family, estimates: estimatesIn(input, family) };
};

/** One session by itself; of several its name is said, and what varies between them. */
const oneSession = (
  input: EvidenceInput,
  { session, family, estimates }: Asked,
  between: ReturnType<typeof betweenFew>,
): Judged[] => {
  const { margin, level } = settingsOf(input);
  const controls = controlEstimates(input, session);
  const named = input.sessions.length > 1 ? { session: session.name } : {};
  return family.map((one) => {
    if (!isPair(one))
      return unanswered(input, one, { rounds: 0, scope: 'session', family: estimates.length, ...named });
    const estimate = estimates.find(({ pair }) => pair === one)!;
    const { settle: more, ...ground } = groundOf(estimate, estimates.length, margin, level);
    const few = between.find(({ pair }) => pair.target === one.target && sameQuestion(pair, one));
    const settle = { ...more, ...few?.settle };
    return concluded(
      input,
      estimate,
      {
        ...ground,
        ...named,
        ...(few ? { betweenSd: few.betweenSd } : {}),
        ...(Object.keys(settle).length > 0 ? { settle } : {}),
      },
      controls,
    );
  });
};

/** A conclusion about every primary metric, size and candidate. */
export const conclusionsOf = (input: EvidenceInput): Judged[] => {
  if (input.sessions.length >= POOLED_FROM) return sessionsTogether(input);
  const asked = input.sessions.map((session) => askedOf(input, session));
  const between =
    asked.length > 1
      ? betweenFew(
          input,
          asked.map(({ estimates }) => estimates),
        )
      : [];
  return asked.flatMap((one) => oneSession(input, one, between));
};

/** Whether every conclusion is reached: what `--stop-when decided` asks after each planned look. */
export const isDecided = (conclusions: readonly Judged[]): boolean =>
  conclusions.length > 0 && conclusions.every((one) => one.conclusion !== 'cant-tell');

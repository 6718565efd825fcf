/** How many rounds and sessions an effect needs, from the noise of an earlier run. Pure. */
import { normalQuantile } from './distributions.ts';
import { DEFAULTS } from './input.ts';
import { EFFICIENCY, roundsFor, studentPower } from './power.ts';

/** The noise of one comparison: of one round's log-ratio, and between sessions where several were made. */
export interface PairNoise {
  withinSd: number;
  /** Degrees of freedom that `withinSd` was estimated with; left out: it is known. */
  freedom?: number;
  betweenSd?: number;
}

export interface Wanted {
  /** The change to be found, as a share: 0.02 is 2 %. Must be above the margin. */
  effect: number;
  margin?: number;
  power?: number;
  level?: number;
  /** Comparisons judged together; the level is divided among them (max-T needs at most that). */
  family?: number;
  /** Rounds per session, when sessions are counted; default 12. */
  rounds?: number;
}

export interface Needed {
  /** Rounds of one session (its effect alone); null: more than 10,000. */
  rounds: number | null;
  /** Sessions of `roundsEach` rounds; null: more than 1,000, or unknown because only one session was made. */
  sessions: number | null;
  roundsEach: number;
}

const MOST_SESSIONS = 1000;

/** Sessions (at least 5, from where they are pooled) whose mean lies `distance` beyond the margin with this power. */
export const sessionsFor = (
  distance: number,
  variance: number,
  level: number,
  power: number,
): number | null => {
  for (let count = 5; count <= MOST_SESSIONS; count++)
    if (studentPower(distance / Math.sqrt(variance / count), count - 1, level) >= power) return count;
  return null;
};

/** So many standard deviations stand for all that the true one may be. */
const PLACES = 20;

/** The chi-square quantile over its degrees of freedom (Wilson & Hilferty 1931). */
const chiSquareShare = (p: number, freedom: number): number => {
  const spread = 2 / (9 * freedom);
  return Math.max(0.01, (1 - spread + normalQuantile(p) * Math.sqrt(spread)) ** 3);
};

/**
 * The standard deviation that the true one is above as often as below: that of few rounds is mostly too small (of six by
 * 7 %), and what a run says it could have seen would be found less often than it says (checked in test/truth).
 */
export const middleSd = (sd: number, freedom: number): number =>
  freedom >= 1 ? sd / Math.sqrt(chiSquareShare(0.5, freedom)) : sd;

/**
 * What the standard deviation of a round may be, each value as likely: a dozen rounds know their own noise to a fifth, and a
 * plan that takes it for certain finds less than it promises (checked in test/truth).
 */
const possibleSds = ({ withinSd, freedom }: PairNoise): number[] =>
  freedom === undefined
    ? [withinSd]
    : Array.from(
        { length: PLACES },
        (_, at) => withinSd / Math.sqrt(chiSquareShare((at + 0.5) / PLACES, freedom)),
      );

/** Variance of one session's estimate around the program's effect. */
export const sessionVariance = (noise: PairNoise, rounds: number): number =>
  noise.withinSd ** 2 / (rounds * EFFICIENCY) + (noise.betweenSd ?? 0) ** 2;

/**
 * Rounds and sessions after which the whole interval lies beyond the margin with the wanted power, when the true change
 * is `effect`. An effect not above the margin is an error: no number of rounds would call it faster or slower.
 */
export const neededFor = (noise: PairNoise, wanted: Wanted): Needed => {
  const {
    effect,
    margin = DEFAULTS.margin,
    power = DEFAULTS.power,
    family = 1,
    rounds: roundsEach = 12,
  } = wanted;
  if (!(effect > margin)) throw new RangeError('an effect not above the margin can never be told');
  const level = (wanted.level ?? DEFAULTS.level) / family;
  const distance = Math.log1p(effect) - Math.log1p(margin);
  // Noise of 0 is a measurement that can't see its own noise; the fewest rounds are still needed for p.
  const shifts = possibleSds(noise).map((sd) => distance / Math.max(sd, distance * 1e-6));
  return {
    rounds: roundsFor(shifts, level, power),
    sessions:
      noise.betweenSd === undefined
        ? null
        : sessionsFor(distance, sessionVariance(noise, roundsEach), level, power),
    roundsEach,
  };
};

/**
 * Rounds for planned looks where so many would do without: a quarter more keeps the power, and rounds are saved all the
 * same where they end early (checked in test/truth). Fewer than 7 have no look before their end.
 */
export const roundsWithLooks = (rounds: number): number => Math.max(7, Math.ceil(1.25 * rounds));

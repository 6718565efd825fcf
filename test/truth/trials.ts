/** What the checks share: shapes of sessions, and counting how often something happens in many of them. */
import type { EvidenceInput, Judged, Session } from '../../shared/evidence/input.ts';
import { conclusionsOf } from '../../shared/evidence/judging.ts';
import { generator, type Random } from '../../shared/evidence/random.ts';
import { type Noise, type Shape, simulate, WARM } from './sessions.ts';

/** Sessions per case: a share of 5 % is then known to 1.5 points (3 standard errors). */
export const COUNT = 2000;

/** A true difference that no interval may lose: 10 %. */
export const TRUTH = Math.log(1.1);

/** The log-ratio of one round has this many times the spread of one sample. */
export const PAIR = Math.SQRT2;

export const inputOf = (
  shape: Shape,
  sessions: Session[],
  more: Partial<EvidenceInput> = {},
): EvidenceInput => {
  const names = Object.keys(shape.targets);
  const control = names.includes('control') ? { control: 'control' } : {};
  const candidates = names.filter((one) => one !== 'reference' && one !== 'control');
  return {
    reference: 'reference',
    candidates,
    ...control,
    turns: shape.turns,
    metrics: [WARM],
    sessions,
    ...more,
  };
};

/** A candidate that differs by `truth` (a log-ratio) from the reference. */
export const pairOf = (truth: number, rounds = 12, turns: readonly number[] = [1]): Shape => ({
  rounds,
  targets: { candidate: truth, reference: 0 },
  turns,
});

/** How many of `count` simulated sessions are hits; each has its own seed, made of the case's. */
export const hits = (count: number, seed: number, isHit: (random: Random, at: number) => boolean): number => {
  let sum = 0;
  for (let at = 0; at < count; at++) if (isHit(generator(seed * 1_000_003 + at), at)) sum++;
  return sum;
};

/** Whether the interval leaves the truth out. */
export const leavesOut = (one: Judged, truth: number): boolean =>
  (one.low !== null && one.low > Math.exp(truth)) || (one.high !== null && one.high < Math.exp(truth));

/** The conclusions of one simulated session. */
export const concluded = (
  shape: Shape,
  noise: Noise,
  random: Random,
  more: Partial<EvidenceInput> = {},
): Judged[] => conclusionsOf(inputOf(shape, [simulate(shape, noise, random)], more));

/** Sessions in which any interval leaves its truth out. */
export const misses = (shape: Shape, noise: Noise, seed: number): number =>
  hits(COUNT, seed, (random, at) =>
    concluded(shape, noise, random, { seed: at }).some((one) =>
      leavesOut(one, shape.targets[one.candidate]!),
    ),
  );

/** Normal noise of samples, on the log scale. */
export const plain =
  (sd: number, draw: (random: Random) => number): Noise =>
  (random) =>
  () =>
    sd * draw(random);

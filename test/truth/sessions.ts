/** Sessions whose truth is known: the noise is made here, so what the evidence says of them can be held against it. */
import type { Metric, Reading, Series, Session } from '../../shared/evidence/input.ts';
import type { Random } from '../../shared/evidence/random.ts';

export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Where one sample stands. */
export interface Place {
  target: string;
  turns: number;
  round: number;
  position: number;
  /** Samples measured before it in the session. */
  time: number;
  /** The target just before it in the session. */
  predecessor?: string;
}

/** What a session reads of the machine around a sample: of a steady one unless it says otherwise. */
export type Readings = (place: Place, value: number) => Partial<Reading>;

/** The log of what one sample measures beyond its target's truth; made anew for each session. */
export type Noise = (random: Random, shape: Shape) => (place: Place) => number;

export interface Shape {
  rounds: number;
  /** Target → its true level, as a log; the first is the candidate. */
  targets: Readonly<Record<string, number>>;
  turns: readonly number[];
}

/** Every target's time where its level is 0. */
const BASE_MS = 100;

export const WARM: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };

/** Independent noise of the given distribution (mean 0, about `sd` wide on the log scale). */
const independent =
  (draw: (random: Random) => number): Noise =>
  (random) =>
  () =>
    draw(random);

/** Noise that any two rounds could exchange: here every stated error rate must hold. */
export const EXCHANGEABLE: Readonly<Record<string, Noise>> = {
  normal: independent((random) => Math.log1p(0.02 * normal(random))),
  'log-normal': independent((random) => 0.15 * normal(random)),
  bimodal: independent((random) => (random() < 0.3 ? 0.08 : 0) + 0.01 * normal(random)),
  // Student's t with 2 degrees of freedom: no variance.
  'heavy-tailed': independent(
    (random) => (0.01 * normal(random)) / Math.sqrt((normal(random) ** 2 + normal(random) ** 2) / 2),
  ),
  // A stall now and then: one sample in twelve is up to half slower.
  stalls: independent((random) => 0.01 * normal(random) + (random() < 1 / 12 ? 0.4 * random() : 0)),
};

/** The machine changes under both targets: pairing and the turning order take most of it out. */
export const MACHINE: Readonly<Record<string, Noise>> = {
  /** 15 % slower from the first sample to the last. */
  drifting: (random, { rounds, targets, turns }) => {
    const samples = rounds * Object.keys(targets).length * turns.length;
    return ({ time }) => (0.15 * time) / samples + 0.01 * normal(random);
  },
  /** Each sample resembles the one before it (φ = 0.8). */
  autocorrelated: (random) => {
    let state = 0.02 * normal(random);
    return () => (state = 0.8 * state + 0.6 * 0.02 * normal(random));
  },
};

/** A kind of session whose rounds can't be exchanged. */
interface Doubtful {
  /** Any of these will do. */
  doubts: readonly string[];
  noise: Noise;
  rounds?: number;
  /** The log-ratio over the session's course. */
  truth?: number;
  /** The reference, a candidate and whoever else is measured; left out: the two. */
  targets?: Shape['targets'];
  /** How the machine shows it. */
  readings?: Readings;
  /** False where no test of so few rounds could be relied on: reported, not promised. */
  promised?: boolean;
}

/** Each target resembles itself in the round before, by `phi`, with a spread of 2 %. */
const wandering =
  (phi: number): Noise =>
  (random) => {
    const states = new Map<string, number>();
    return ({ target, turns }) => {
      const key = `${target} ${turns}`;
      const state =
        phi * (states.get(key) ?? 0.02 * normal(random)) + Math.sqrt(1 - phi * phi) * 0.02 * normal(random);
      states.set(key, state);
      return state;
    };
  };

/** What pairing can't take out: here the doubt must fire. */
export const DOUBTFUL: Readonly<Record<string, Doubtful>> = {
  'candidate drifts by 12 %': {
    doubts: ['drift'],
    truth: 0.06,
    noise:
      (random, shape) =>
      ({ target, round }) =>
        (target === 'candidate' ? (0.12 * round) / (shape.rounds - 1) : 0) + 0.01 * normal(random),
  },
  'targets wander by themselves (φ = 0.9, 48 rounds)': {
    doubts: ['drift', 'wandering'],
    rounds: 48,
    noise: wandering(0.9),
  },
  'targets wander by themselves (φ = 0.9, 12 rounds)': {
    doubts: ['drift', 'wandering'],
    noise: wandering(0.9),
    promised: false,
  },
  'first rounds 10 % slower': {
    doubts: ['warmup'],
    noise:
      (random) =>
      ({ round }) =>
        (round < 3 ? 0.1 : 0) + 0.02 * normal(random),
  },
  'first of a round 5 % slower': {
    doubts: ['order'],
    noise:
      (random) =>
      ({ position }) =>
        (position === 0 ? 0.05 : 0) + 0.01 * normal(random),
  },
  'a target is 5 % slower after a certain other (3 targets)': {
    doubts: ['order', 'predecessor'],
    rounds: 24,
    targets: { candidate: 0, reference: 0, other: 0 },
    noise:
      (random) =>
      ({ predecessor }) =>
        (predecessor === 'other' ? 0.05 : 0) + 0.01 * normal(random),
  },
  'samples follow the clock, ±3 %': {
    doubts: ['clock'],
    noise: (random) => () => 0.03 * normal(random),
    readings: (_, value) => ({ mhz: (3000 * BASE_MS) / value }),
  },
  'samples follow the speed probe, ±3 %, no clock to read': {
    doubts: ['clock'],
    noise: (random) => () => 0.03 * normal(random),
    readings: (_, value) => ({ mhz: NaN, speedMs: (0.04 * value) / BASE_MS }),
  },
  ...Object.fromEntries(
    (
      [
        ['throttled', 'throttledMs', 'by the quota'],
        ['steal', 'stealMs', 'by other machines'],
        ['stalled', 'stalledMs', 'by pressure'],
        ['contended', 'contendedMs', 'by other tasks of the machine'],
      ] as const
    ).map(([name, field, words]) => [
      `every fifth sample is held up for 15 % of its time ${words}`,
      {
        doubts: [name],
        noise:
          (random: Random) =>
          ({ time }: Place) =>
            (time % 5 === 0 ? 0.15 : 0) + 0.01 * normal(random),
        readings: ({ time }: Place, value: number) => (time % 5 === 0 ? { [field]: 0.15 * value } : {}),
      },
    ]),
  ),
  'two heaps 20 % apart (48 rounds)': {
    doubts: ['bimodal'],
    rounds: 48,
    noise: (random) => () => (random() < 0.5 ? 0.2 : 0) + 0.02 * normal(random),
  },
  'two heaps 20 % apart (12 rounds)': {
    doubts: ['bimodal'],
    promised: false,
    noise: (random) => () => (random() < 0.5 ? 0.2 : 0) + 0.02 * normal(random),
  },
};

/** A session of these targets; with the order turned each round, as `plan` lays it down. */
export const simulate = (
  shape: Shape,
  noise: Noise,
  random: Random,
  name = 'session',
  read: Readings = () => ({}),
): Session => {
  const names = Object.keys(shape.targets);
  const series = new Map<string, Series & { values: number[] }>();
  const readings: Reading[] = [];
  const measure = noise(random, shape);
  let [time, predecessor] = [0, undefined as string | undefined];
  for (let round = 0; round < shape.rounds; round++)
    for (const turns of shape.turns)
      for (let position = 0; position < names.length; position++) {
        const target = names[(position + round) % names.length]!;
        const before = predecessor === undefined ? {} : { predecessor };
        const place: Place = { target, turns, round, position, time: time++, ...before };
        const value = BASE_MS * Math.exp(shape.targets[target]! + measure(place));
        const key = `${target} ${turns}`;
        if (!series.has(key)) series.set(key, { target, turns, metric: WARM.key, values: [] });
        series.get(key)!.values.push(value);
        // A steady clock that the result does not follow.
        const mhz = 3000 * (1 + 0.01 * (random() - 0.5));
        readings.push({
          target,
          turns,
          round,
          position,
          ...before,
          wallMs: value,
          mhz,
          // Trifles that every machine has.
          throttledMs: 0,
          stealMs: 0.002 * value * ((0.618 * time) % 1),
          stalledMs: 0.02 * value * ((0.414 * time) % 1),
          ...read(place, value),
        });
        predecessor = target;
      }
  return { name, series: [...series.values()], readings };
};

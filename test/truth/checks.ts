/** The statements of the evidence layer, each held against sessions whose truth is known. */
import { changePoints } from '../../shared/evidence/changes.ts';
import { evidenceOf } from '../../shared/evidence/evidence.ts';
import { DEFAULTS, type EvidenceInput, type Judged, type Session } from '../../shared/evidence/input.ts';
import { conclusionsOf } from '../../shared/evidence/judging.ts';
import { neededFor } from '../../shared/evidence/planning.ts';
import { generator, type Random } from '../../shared/evidence/random.ts';
import { detectableShift } from '../../shared/evidence/power.ts';
import { plannedLooks } from '../../shared/evidence/spending.ts';
import { share, type TruthRecord } from './record.ts';
import { DOUBTFUL, EXCHANGEABLE, MACHINE, normal, simulate, WARM, type Noise, type Shape } from './sessions.ts';

/** Sessions per case: a share of 5 % is then known to 1.5 points (3 standard errors). */
const COUNT = 2000;

const TRUTH = Math.log(1.1);

const inputOf = (shape: Shape, sessions: Session[], more: Partial<EvidenceInput> = {}): EvidenceInput => {
  const names = Object.keys(shape.targets);
  const control = names.includes('control') ? { control: 'control' } : {};
  const candidates = names.filter((one) => one !== 'reference' && one !== 'control');
  return { reference: 'reference', candidates, ...control, turns: shape.turns, metrics: [WARM], sessions, ...more };
};

const pair = (truth: number, rounds = 12, turns: readonly number[] = [1]): Shape => ({
  rounds,
  targets: { candidate: truth, reference: 0 },
  turns,
});

/** How many of `count` simulated sessions are hits; each has its own seed. */
const hits = (count: number, seed: number, one: (random: Random, at: number) => boolean): number => {
  let sum = 0;
  for (let at = 0; at < count; at++) if (one(generator(seed * 1_000_003 + at), at)) sum++;
  return sum;
};

const ratioOut = (one: Judged, truth: number): boolean =>
  (one.low !== null && one.low > Math.exp(truth)) || (one.high !== null && one.high < Math.exp(truth));

/** Sessions in which any interval leaves the truth out. */
const missesOf = (shape: Shape, noise: Noise, seed: number, more: Partial<EvidenceInput> = {}): number =>
  hits(COUNT, seed, (random, at) => {
    const session = simulate(shape, noise, random);
    const { judged } = conclusionsOf(inputOf(shape, [session], { seed: at, ...more }));
    return judged.some((one) => ratioOut(one, shape.targets[one.candidate]!));
  });

/** Nothing is different: a difference is found in at most 5 % of sessions, over all comparisons of the session together. */
function* falseAlarms(): Generator<TruthRecord> {
  const shapes: [string, Shape][] = [
    ['12 rounds', pair(0)],
    ['12 rounds, 3 sizes', pair(0, 12, [1, 2, 3])],
    ['6 rounds', pair(0, 6)],
    ['30 rounds (drawn)', pair(0, 30)],
  ];
  let seed = 100;
  for (const [name, noise] of Object.entries({ ...EXCHANGEABLE, ...MACHINE }))
    for (const [how, shape] of shapes) {
      const found = missesOf(shape, noise, ++seed);
      yield share({ check: 'false-alarms', case: `${name}, ${how}`, count: COUNT, seed, hits: found }, 'at-most', DEFAULTS.level);
    }
  const many: Shape = { rounds: 12, targets: { a: 0, b: 0, c: 0, reference: 0 }, turns: [1, 2, 3] };
  const found = missesOf(many, EXCHANGEABLE['normal']!, ++seed);
  yield share({ check: 'false-alarms', case: 'normal, 3 candidates × 3 sizes', count: COUNT, seed, hits: found }, 'at-most', DEFAULTS.level);
}

/** A true difference of 10 %: the intervals hold it in 95 % of sessions, at most 2 points less. */
function* coverage(): Generator<TruthRecord> {
  let seed = 200;
  for (const [name, noise] of Object.entries({ ...EXCHANGEABLE, ...MACHINE }))
    for (const [how, shape] of [
      ['12 rounds', pair(TRUTH)],
      ['12 rounds, 3 sizes', pair(TRUTH, 12, [1, 2, 3])],
      ['30 rounds (drawn)', pair(TRUTH, 30)],
    ] as const) {
      const missed = missesOf(shape, noise, ++seed);
      yield share({ check: 'coverage', case: `${name}, ${how}`, count: COUNT, seed, hits: COUNT - missed }, 'at-least', 0.93);
    }
}

/** Log-ratios of one round have this standard deviation when each of two samples has `sd`. */
const PAIR = Math.SQRT2;

/** Sessions with the planned number of rounds conclude `slower` as often as the plan promises. */
function* power(): Generator<TruthRecord> {
  let seed = 300;
  for (const [effect, margin, sd] of [
    [0.05, 0.03, 0.01],
    [0.05, 0.03, 0.02],
    [0.08, 0.03, 0.03],
    [0.03, 0.01, 0.01],
    [0.2, 0.03, 0.05],
  ] as const) {
    const { rounds } = neededFor({ withinSd: PAIR * sd }, { effect, margin });
    const shape = pair(Math.log1p(effect), rounds!);
    const noise: Noise = (random) => () => sd * normal(random);
    const found = hits(COUNT, ++seed, (random, at) => {
      const { judged } = conclusionsOf(inputOf(shape, [simulate(shape, noise, random)], { margin, seed: at }));
      return judged[0]!.conclusion === 'slower';
    });
    const name = `${100 * effect} % beyond a margin of ${100 * margin} %, noise ${100 * sd} %: ${rounds} rounds planned`;
    yield share({ check: 'power', case: name, count: COUNT, seed, hits: found }, 'at-least', DEFAULTS.power);
  }
  // What a user does: plan from the noise of one A/A session.
  const noise: Noise = (random) => () => 0.02 * normal(random);
  const found = hits(COUNT, ++seed, (random, at) => {
    const before = pair(0);
    const [pilot] = conclusionsOf(inputOf(before, [simulate(before, noise, random)])).judged;
    const shape = pair(Math.log1p(0.05), neededFor({ withinSd: pilot!.withinSd! }, { effect: 0.05 }).rounds!);
    const { judged } = conclusionsOf(inputOf(shape, [simulate(shape, noise, random)], { seed: at }));
    return judged[0]!.conclusion === 'slower';
  });
  yield share({ check: 'power', case: 'planned from one A/A session of 12 rounds (its noise is itself uncertain)', count: COUNT, seed, hits: found }, 'at-least', null);
}

/** Measures until every conclusion is reached or the rounds are used up, as `--stop-when decided` does. */
const stopped = (shape: Shape, noise: Noise, random: Random, at: number): { judged: Judged; rounds: number } => {
  const whole = simulate(shape, noise, random);
  const looks = plannedLooks(shape.rounds);
  for (const rounds of looks) {
    const series = whole.series.map((one) => ({ ...one, values: one.values.slice(0, rounds) }));
    const { judged } = conclusionsOf(inputOf(shape, [{ name: 'session', series }], { looks, seed: at }));
    if (judged[0]!.conclusion !== 'cant-tell' || rounds === shape.rounds) return { judged: judged[0]!, rounds };
  }
  throw new Error('the last look is the end');
};

/** Early stopping costs no error, and saves rounds where the effect is large. */
function* stopping(): Generator<TruthRecord> {
  let seed = 400;
  const margin = Math.log1p(DEFAULTS.margin);
  for (const [name, noise] of Object.entries(EXCHANGEABLE)) {
    for (const [how, truth, wrong] of [
      ['no difference: the interval leaves it out', 0, (one: Judged) => ratioOut(one, 0)],
      ['10 %: the interval leaves it out', TRUTH, (one: Judged) => ratioOut(one, TRUTH)],
    ] as const) {
      const found = hits(COUNT, ++seed, (random, at) => wrong(stopped(pair(truth), noise, random, at).judged));
      yield share({ check: 'stopping-error', case: `${name}, ${how}`, count: COUNT, seed, hits: found }, 'at-most', DEFAULTS.level);
    }
    const found = hits(COUNT, ++seed, (random, at) => stopped(pair(margin), noise, random, at).judged.conclusion === 'slower');
    yield share({ check: 'stopping-error', case: `${name}, exactly the margin: called slower`, count: COUNT, seed, hits: found }, 'at-most', DEFAULTS.level / 2);
  }
  for (const sd of [0.005, 0.01, 0.02, 0.04]) {
    const noise: Noise = (random) => () => sd * normal(random);
    const detectable = Math.expm1(margin + detectableShift(12, DEFAULTS.level, DEFAULTS.power) * PAIR * sd);
    let rounds = 0;
    const decided = hits(COUNT, ++seed, (random, at) => {
      const result = stopped(pair(Math.log1p(2 * detectable)), noise, random, at);
      rounds += result.rounds;
      return result.judged.conclusion === 'slower';
    });
    const name = `noise ${100 * sd} %, twice the detectable effect (${(200 * detectable).toFixed(1)} %)`;
    yield share({ check: 'stopping-saving', case: `${name}: rounds used of 12`, count: COUNT, seed, hits: (rounds / 12) }, 'at-most', 0.6);
    yield share({ check: 'stopping-power', case: `${name}: called slower`, count: COUNT, seed, hits: decided }, 'at-least', DEFAULTS.power);
  }
}

/** Sessions of one program that differ by themselves: the session effect is in both the error and the interval. */
function* sessions(): Generator<TruthRecord> {
  let seed = 500;
  const count = 5;
  const spread = (random: Random, shape: Shape, effect: number, sessionsCount: number): Session[] =>
    Array.from({ length: sessionsCount }, (_, at) => {
      const own = { ...shape, targets: { candidate: shape.targets['candidate']! + effect * normal(random), reference: 0 } };
      return simulate(own, EXCHANGEABLE['normal']!, random, `session ${at + 1}`);
    });
  const alone = hits(COUNT, ++seed, (random) => {
    const { judged } = conclusionsOf(inputOf(pair(0), spread(random, pair(0), 0.01, 1)));
    return ratioOut(judged[0]!, 0);
  });
  yield share({ check: 'session-effects', case: 'one session, 1 % between sessions, no difference: found within this session', count: COUNT, seed, hits: alone }, 'at-most', null);
  for (const [effect, sessionsCount] of [[0, count], [0.01, count], [0.05, count], [0.01, 10]] as const) {
    for (const truth of [0, TRUTH]) {
      const shape = pair(truth);
      const missed = hits(COUNT, ++seed, (random) => {
        const { judged } = conclusionsOf(inputOf(shape, spread(random, shape, effect, sessionsCount)));
        return ratioOut(judged[0]!, truth);
      });
      const name = `${sessionsCount} sessions, ${100 * effect} % between sessions, ${truth === 0 ? 'no difference' : '10 %'}`;
      yield share({ check: 'session-effects', case: `${name}: left out`, count: COUNT, seed, hits: missed }, 'at-most', DEFAULTS.level);
    }
  }
  // The sessions that the plan asks for find the effect.
  const noise = { withinSd: PAIR * 0.02, betweenSd: 0.015 };
  const { sessions: planned } = neededFor(noise, { effect: 0.05 });
  const shape = pair(Math.log1p(0.05));
  const found = hits(COUNT, ++seed, (random) => {
    const { judged } = conclusionsOf(inputOf(shape, spread(random, shape, noise.betweenSd, planned!)));
    return judged[0]!.conclusion === 'slower';
  });
  yield share({ check: 'power', case: `5 % beyond a margin of 3 %, 1.5 % between sessions: ${planned} sessions planned`, count: COUNT, seed, hits: found }, 'at-least', DEFAULTS.power);
}

/** Clean A/A sessions carry a doubt in one of ten at most; where rounds can't be exchanged, the doubt fires. */
function* doubts(): Generator<TruthRecord> {
  let seed = 600;
  const shapes: [string, Shape][] = [
    ['2 targets', pair(0)],
    ['2 targets, 3 sizes', pair(0, 12, [1, 2, 3])],
    ['with control', { rounds: 12, targets: { candidate: 0, reference: 0, control: 0 }, turns: [1] }],
    ['with control, 30 rounds', { rounds: 30, targets: { candidate: 0, reference: 0, control: 0 }, turns: [1] }],
  ];
  const clean = ['normal', 'log-normal', 'heavy-tailed', 'stalls'];
  for (const name of clean)
    for (const [how, shape] of shapes) {
      const found = hits(COUNT, ++seed, (random, at) => {
        const session = simulate(shape, EXCHANGEABLE[name]!, random);
        return evidenceOf(inputOf(shape, [session], { seed: at })).doubts.length > 0;
      });
      yield share({ check: 'clean-doubts', case: `${name}, ${how}`, count: COUNT, seed, hits: found }, 'at-most', 0.1);
    }
  for (const [name, { noise, doubt, rounds = 12 }] of Object.entries(DOUBTFUL)) {
    const found = hits(COUNT / 4, ++seed, (random, at) => {
      const session = simulate(pair(0, rounds), noise, random);
      return evidenceOf(inputOf(pair(0, rounds), [session], { seed: at })).doubts.some((one) => one.name === doubt);
    });
    yield share({ check: 'doubt-fires', case: `${name}: '${doubt}'`, count: COUNT / 4, seed, hits: found }, 'at-least', 0.8);
  }
  const shape: Shape = { rounds: 12, targets: { candidate: 0, reference: 0, control: 0.05 }, turns: [1] };
  const told = hits(COUNT / 4, ++seed, (random, at) => {
    const { conclusions } = evidenceOf(inputOf(shape, [simulate(shape, EXCHANGEABLE['normal']!, random)], { seed: at }));
    return conclusions.every((one) => one.conclusion === 'cant-tell' && one.control!.differs);
  });
  yield share({ check: 'doubt-fires', case: 'the control differs by 5 %: nothing is concluded', count: COUNT / 4, seed, hits: told }, 'at-least', 0.95);
}

/** Histories without a change have none found in 95 %; a step is found where it is. */
function* histories(): Generator<TruthRecord> {
  let seed = 700;
  for (const [name, noise] of Object.entries(EXCHANGEABLE))
    for (const length of [20, 100, 400]) {
      const count = length === 400 ? 500 : COUNT;
      const found = hits(count, ++seed, (random, at) => {
        const draw = noise(random, pair(0));
        const values = Array.from({ length }, () => draw({ target: 'candidate', turns: 1, round: 0, position: 0, time: 0 }));
        return changePoints(values, { seed: at }).length > 0;
      });
      yield share({ check: 'false-changes', case: `${name}, ${length} runs`, count, seed, hits: found }, 'at-most', DEFAULTS.level);
    }
  for (const [length, at, size] of [[40, 30, 3], [100, 60, 2], [400, 200, 1]] as const) {
    const found = hits(500, ++seed, (random, one) => {
      const values = Array.from({ length }, (_, run) => 0.02 * ((run >= at ? size : 0) + normal(random)));
      const changes = changePoints(values, { seed: one });
      return changes.length === 1 && Math.abs(changes[0]!.at - at) <= 10 / size;
    });
    yield share({ check: 'changes-found', case: `a step of ${size} standard deviations at run ${at} of ${length}, alone and in place`, count: 500, seed, hits: found }, 'at-least', DEFAULTS.power);
  }
}

export const CHECKS = { falseAlarms, coverage, power, stopping, sessions, doubts, histories };

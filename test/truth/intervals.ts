/** False alarms, coverage, and power as planned, of one session's conclusions. */
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { neededFor } from '../../shared/evidence/planning.ts';
import { median } from '../../shared/statistics.ts';
import { atLeast, atMost, type TruthRecord } from './record.ts';
import { EXCHANGEABLE, MACHINE, normal, type Shape } from './sessions.ts';
import { concluded, COUNT, hits, misses, PAIR, pairOf, plain, TRUTH } from './trials.ts';

const NOISES = Object.entries({ ...EXCHANGEABLE, ...MACHINE });

/** Nothing is different: a difference is found in at most 5 % of sessions, over all comparisons of the session together. */
export function* falseAlarms(): Generator<TruthRecord> {
  let seed = 100;
  for (const [name, noise] of NOISES)
    for (const [how, shape] of [
      ['12 rounds', pairOf(0)],
      ['12 rounds, 3 sizes', pairOf(0, 12, [1, 2, 3])],
      ['6 rounds', pairOf(0, 6)],
      ['30 rounds', pairOf(0, 30)],
    ] as const) {
      const found = misses(shape, noise, ++seed);
      yield atMost(DEFAULTS.level, {
        check: 'false-alarms',
        case: `${name}, ${how}`,
        count: COUNT,
        seed,
        hits: found,
      });
    }
  for (const rounds of [12, 20]) {
    const many: Shape = { rounds, targets: { a: 0, b: 0, c: 0, reference: 0 }, turns: [1, 2, 3] };
    const found = misses(many, EXCHANGEABLE['normal']!, ++seed);
    const what = `normal, 3 candidates × 3 sizes, ${rounds} rounds${rounds > 15 ? ' (drawn sign patterns)' : ''}`;
    yield atMost(DEFAULTS.level, { check: 'false-alarms', case: what, count: COUNT, seed, hits: found });
  }
}

/** A true difference of 10 %: the intervals hold it in 95 % of sessions, 2 points more or less. */
export function* coverage(): Generator<TruthRecord> {
  let seed = 200;
  for (const [name, noise] of NOISES)
    for (const [how, shape] of [
      ['12 rounds', pairOf(TRUTH)],
      ['12 rounds, 3 sizes at once', pairOf(TRUTH, 12, [1, 2, 3])],
      ['30 rounds', pairOf(TRUTH, 30)],
    ] as const) {
      const held = COUNT - misses(shape, noise, ++seed);
      const counted = { check: 'coverage', case: `${name}, ${how}`, count: COUNT, seed, hits: held };
      yield atLeast(0.93, counted);
      if (name in EXCHANGEABLE) yield atMost(0.97, counted);
    }
}

/** Sessions with the planned number of rounds conclude `slower` as often as the plan promises. */
export function* power(): Generator<TruthRecord> {
  let seed = 300;
  for (const [effect, margin, sd] of [
    [0.05, 0.03, 0.01],
    [0.05, 0.03, 0.02],
    [0.08, 0.03, 0.03],
    [0.03, 0.01, 0.01],
    [0.2, 0.03, 0.05],
  ] as const) {
    const { rounds } = neededFor({ withinSd: PAIR * sd }, { effect, margin });
    const shape = pairOf(Math.log1p(effect), rounds!);
    const found = hits(
      COUNT,
      ++seed,
      (random, at) =>
        concluded(shape, plain(sd, normal), random, { margin, seed: at })[0]!.conclusion === 'slower',
    );
    const what = `${100 * effect} % at a margin of ${100 * margin} %, noise ${100 * sd} %: ${rounds} rounds planned`;
    yield atLeast(DEFAULTS.power, { check: 'power', case: what, count: COUNT, seed, hits: found });
  }
  // What a run says it could have seen, it sees.
  for (const [how, shape] of [
    ['6 rounds', pairOf(0, 6)],
    ['12 rounds', pairOf(0)],
    ['30 rounds', pairOf(0, 30)],
    ['12 rounds, 3 sizes', pairOf(0, 12, [1, 2, 3])],
  ] as const) {
    const quiet = plain(0.02, normal);
    const stated: number[] = [];
    hits(COUNT / 4, ++seed, (random, at) => {
      stated.push(concluded(shape, quiet, random, { seed: at })[0]!.detectable!);
      return false;
    });
    const effect = median(stated);
    const there = { ...shape, targets: { ...shape.targets, candidate: Math.log1p(effect) } };
    const found = hits(
      COUNT,
      ++seed,
      (random, at) => concluded(there, quiet, random, { seed: at })[0]!.conclusion === 'slower',
    );
    yield atLeast(DEFAULTS.power, {
      check: 'power',
      case: `${how}: the effect that sessions without one call detectable (${(100 * effect).toFixed(1)} %, their median)`,
      count: COUNT,
      seed,
      hits: found,
    });
  }
  // What a user does: plan from the noise of one A/A session, which is itself uncertain.
  const noise = plain(0.02, normal);
  const found = hits(COUNT, ++seed, (random, at) => {
    const [pilot] = concluded(pairOf(0), noise, random);
    const known = { withinSd: pilot!.withinSd!, freedom: pilot!.rounds - 1 };
    const { rounds } = neededFor(known, { effect: 0.05 });
    return (
      concluded(pairOf(Math.log1p(0.05), rounds!), noise, random, { seed: at })[0]!.conclusion === 'slower'
    );
  });
  yield atLeast(DEFAULTS.power, {
    check: 'power',
    case: 'planned from one A/A session of 12 rounds',
    count: COUNT,
    seed,
    hits: found,
  });
}

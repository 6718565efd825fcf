/** Doubts: rare where all is well, and there where an interval promises too much. */
import { evidenceOf } from '../../shared/evidence/evidence.ts';
import { atLeast, atMost, reported, type TruthRecord } from './record.ts';
import { DOUBTFUL, EXCHANGEABLE, type Shape, simulate } from './sessions.ts';
import { COUNT, hits, inputOf, leavesOut, pairOf } from './trials.ts';

const withControl = (rounds: number, control = 0): Shape => ({
  rounds,
  targets: { candidate: 0, reference: 0, control },
  turns: [1],
});

/** One distribution per kind; bimodal noise is no clean session. */
const CLEAN = ['normal', 'log-normal', 'heavy-tailed', 'stalls'];

/** At most one clean A/A session in ten carries any doubt. */
function* clean(): Generator<TruthRecord> {
  let seed = 600;
  for (const name of CLEAN)
    for (const [how, shape] of [
      ['2 targets', pairOf(0)],
      ['2 targets, 3 sizes', pairOf(0, 12, [1, 2, 3])],
      ['with control', withControl(12)],
      ['with control, 30 rounds', withControl(30)],
    ] as const) {
      const found = hits(COUNT, ++seed, (random, at) => {
        const session = simulate(shape, EXCHANGEABLE[name]!, random);
        return evidenceOf(inputOf(shape, [session], { seed: at })).doubts.length > 0;
      });
      yield atMost(0.1, { check: 'clean-doubts', case: `${name}, ${how}`, count: COUNT, seed, hits: found });
    }
}

/** Where rounds can't be exchanged the doubt fires; beside it, how often the interval would have been wrong. */
function* doubtful(): Generator<TruthRecord> {
  let seed = 650;
  for (const [name, about] of Object.entries(DOUBTFUL)) {
    const { noise, readings, doubts: named, rounds = 12, truth = 0, promised = true } = about;
    const pair = pairOf(0, rounds);
    const shape = { ...pair, targets: about.targets ?? pair.targets };
    let missed = 0;
    const told = hits(COUNT, ++seed, (random, at) => {
      const session = simulate(shape, noise, random, 'session', readings);
      const { conclusions, doubts: found } = evidenceOf(inputOf(shape, [session], { seed: at }));
      if (conclusions.some((one) => leavesOut(one, truth))) missed++;
      return found.some((one) => named.includes(one.name));
    });
    const fired = {
      check: 'doubt-fires',
      case: `${name}: ${named.join(' or ')}`,
      count: COUNT,
      seed,
      hits: told,
    };
    yield promised ? atLeast(0.8, fired) : reported(fired);
    yield reported({
      check: 'doubtful-misses',
      case: `${name}: the interval leaves the truth out`,
      count: COUNT,
      seed,
      hits: missed,
    });
  }
  const shape = withControl(12, 0.05);
  const silent = hits(COUNT, ++seed, (random, at) => {
    const session = simulate(shape, EXCHANGEABLE['normal']!, random);
    const { conclusions } = evidenceOf(inputOf(shape, [session], { seed: at }));
    return conclusions.every((one) => one.conclusion === 'cant-tell' && one.control!.differs);
  });
  yield atLeast(0.95, {
    check: 'doubt-fires',
    case: 'the control differs by 5 %: nothing is concluded',
    count: COUNT,
    seed,
    hits: silent,
  });
}

export function* doubts(): Generator<TruthRecord> {
  yield* clean();
  yield* doubtful();
}

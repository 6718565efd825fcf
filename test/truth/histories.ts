/** Change points of histories whose steps are known. */
import { changePoints } from '../../shared/evidence/changes.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { atLeast, atMost, type TruthRecord } from './record.ts';
import { EXCHANGEABLE, normal } from './sessions.ts';
import { COUNT, hits, pairOf } from './trials.ts';

const NOWHERE = { target: 'candidate', turns: 1, round: 0, position: 0, time: 0 };

/** Histories without a change have none found in 95 %; a step is found where it is. */
export function* histories(): Generator<TruthRecord> {
  let seed = 700;
  for (const [name, noise] of Object.entries(EXCHANGEABLE))
    for (const length of [20, 100, 400]) {
      const found = hits(COUNT, ++seed, (random, at) => {
        const measure = noise(random, pairOf(0));
        return (
          changePoints(
            Array.from({ length }, () => measure(NOWHERE)),
            { seed: at },
          ).length > 0
        );
      });
      yield atMost(DEFAULTS.level, {
        check: 'false-changes',
        case: `${name}, ${length} runs`,
        count: COUNT,
        seed,
        hits: found,
      });
    }
  for (const [length, step, size] of [
    [40, 30, 3],
    [100, 60, 2],
    [400, 200, 1],
  ] as const) {
    const found = hits(COUNT, ++seed, (random, at) => {
      const values = Array.from({ length }, (_, run) => 0.02 * ((run >= step ? size : 0) + normal(random)));
      const changes = changePoints(values, { seed: at });
      return changes.length === 1 && Math.abs(changes[0]!.at - step) <= 10 / size;
    });
    const what = `a step of ${size} standard deviations at run ${step} of ${length}: found alone, within ${Math.floor(10 / size)} runs`;
    yield atLeast(DEFAULTS.power, { check: 'changes-found', case: what, count: COUNT, seed, hits: found });
  }
}

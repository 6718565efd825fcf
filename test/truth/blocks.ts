/** Sessions as blocks: a difference between sessions belongs into the interval. */
import { DEFAULTS, type Judged } from '../../shared/evidence/input.ts';
import { conclusionsOf } from '../../shared/evidence/judging.ts';
import { neededFor } from '../../shared/evidence/planning.ts';
import type { Random } from '../../shared/evidence/random.ts';
import { median } from '../../shared/statistics.ts';
import { atLeast, atMost, reported, type TruthRecord } from './record.ts';
import { EXCHANGEABLE, normal, simulate } from './sessions.ts';
import { COUNT, hits, inputOf, leavesOut, PAIR, pairOf, TRUTH } from './trials.ts';

/** The conclusion over sessions whose true ratios vary around `truth`. */
const together = (random: Random, truth: number, between: number, count: number): Judged => {
  const sessions = Array.from({ length: count }, (_, at) =>
    simulate(pairOf(truth + between * normal(random)), EXCHANGEABLE['normal']!, random, `session ${at + 1}`),
  );
  return conclusionsOf(inputOf(pairOf(truth), sessions))[0]!;
};

/** Intervals over sessions hold the program's effect; the plan's sessions find it. One session alone can't promise that. */
export function* sessionEffects(): Generator<TruthRecord> {
  let seed = 500;
  const alone = hits(COUNT, ++seed, (random) => leavesOut(together(random, 0, 0.01, 1), 0));
  const what = 'one session, 1 % between sessions, no difference: found within this session';
  yield reported({ check: 'session-effects', case: what, count: COUNT, seed, hits: alone });
  for (const [between, count] of [
    [0, 5],
    [0.01, 5],
    [0.05, 5],
    [0.01, 10],
  ] as const)
    for (const truth of [0, TRUTH]) {
      const missed = hits(COUNT, ++seed, (random) =>
        leavesOut(together(random, truth, between, count), truth),
      );
      const name = `${count} sessions, ${100 * between} % between them, ${truth === 0 ? 'no difference' : '10 %'}: left out`;
      yield atMost(DEFAULTS.level, {
        check: 'session-effects',
        case: name,
        count: COUNT,
        seed,
        hits: missed,
      });
    }
  const noise = { withinSd: PAIR * 0.02, betweenSd: 0.015 };
  const { sessions } = neededFor(noise, { effect: 0.05 });
  const found = hits(
    COUNT,
    ++seed,
    (random) => together(random, Math.log1p(0.05), noise.betweenSd, sessions!).conclusion === 'slower',
  );
  const planned = `5 % at a margin of 3 %, 1.5 % between sessions: ${sessions} sessions planned`;
  yield atLeast(DEFAULTS.power, { check: 'sessions-power', case: planned, count: COUNT, seed, hits: found });
  for (const [between, count] of [
    [0, 5],
    [0.015, 5],
    [0.015, 10],
  ] as const) {
    const stated: number[] = [];
    hits(COUNT / 4, ++seed, (random) => {
      stated.push(together(random, 0, between, count).detectable!);
      return false;
    });
    const effect = median(stated);
    const seen = hits(
      COUNT,
      ++seed,
      (random) => together(random, Math.log1p(effect), between, count).conclusion === 'slower',
    );
    const asked = `${count} sessions, ${100 * between} % between them: the effect that sessions without one call detectable (${(100 * effect).toFixed(1)} %, their median)`;
    yield atLeast(DEFAULTS.power, { check: 'sessions-power', case: asked, count: COUNT, seed, hits: seen });
  }
}

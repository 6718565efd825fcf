/** Planned looks: what stopping early costs and saves. */
import { DEFAULTS, type Judged } from '../../shared/evidence/input.ts';
import { conclusionsOf, isDecided } from '../../shared/evidence/judging.ts';
import { neededFor, roundsWithLooks } from '../../shared/evidence/planning.ts';
import { detectableShift } from '../../shared/evidence/power.ts';
import type { Random } from '../../shared/evidence/random.ts';
import { plannedLooks } from '../../shared/evidence/spending.ts';
import { atLeast, atMost, reported, type TruthRecord } from './record.ts';
import { EXCHANGEABLE, type Noise, normal, type Shape, simulate } from './sessions.ts';
import { COUNT, hits, inputOf, leavesOut, PAIR, pairOf, plain, TRUTH } from './trials.ts';

/** Measures until every conclusion is reached or the rounds are used up, as `--stop-when decided` does. */
const stopped = (
  shape: Shape,
  noise: Noise,
  random: Random,
  seed: number,
  margin: number = DEFAULTS.margin,
): { judged: Judged; rounds: number } => {
  const whole = simulate(shape, noise, random);
  const looks = plannedLooks(shape.rounds);
  for (const rounds of looks) {
    const series = whole.series.map(({ target, turns, metric, values }) => ({
      target,
      turns,
      metric,
      values: values.slice(0, rounds),
    }));
    const judged = conclusionsOf(inputOf(shape, [{ name: 'session', series }], { looks, seed, margin }));
    if (isDecided(judged) || rounds === shape.rounds) return { judged: judged[0]!, rounds };
  }
  throw new Error('the last look is the end');
};

/** What `--for-effect` plans beside `--stop-when`: a quarter more rounds than without looks keep the power. */
function* plannedWithLooks(first: number): Generator<TruthRecord> {
  let seed = first;
  for (const [effect, margin, sd] of [
    [0.05, 0.03, 0.02],
    [0.08, 0.03, 0.03],
    [0.03, 0.01, 0.01],
    [0.02, 0.01, 0.012],
  ] as const) {
    const alone = neededFor({ withinSd: PAIR * sd }, { effect, margin }).rounds!;
    const rounds = roundsWithLooks(alone);
    let used = 0;
    const found = hits(COUNT, ++seed, (random, at) => {
      const shape = pairOf(Math.log1p(effect), rounds);
      const end = stopped(shape, plain(sd, normal), random, at, margin);
      used += end.rounds;
      return end.judged.conclusion === 'slower';
    });
    const what = `${100 * effect} % at a margin of ${100 * margin} %, noise ${100 * sd} %: ${rounds} rounds planned`;
    const about = { count: COUNT, seed };
    yield atLeast(DEFAULTS.power, { check: 'stopping-planned', case: what, ...about, hits: found });
    yield reported({
      check: 'stopping-planned',
      case: `${what}: rounds used, as a share of the ${alone} without looks`,
      ...about,
      hits: used / alone,
    });
  }
}

/** Early stopping costs no error, and saves rounds where the effect is large. */
export function* stopping(): Generator<TruthRecord> {
  let seed = 400;
  const margin = Math.log1p(DEFAULTS.margin);
  for (const [name, noise] of Object.entries(EXCHANGEABLE))
    for (const [how, truth, limit, isWrong] of [
      ['no difference, left out of the interval', 0, DEFAULTS.level, (one: Judged) => leavesOut(one, 0)],
      ['10 %, left out of the interval', TRUTH, DEFAULTS.level, (one: Judged) => leavesOut(one, TRUTH)],
      [
        'exactly the margin, called slower',
        margin,
        DEFAULTS.level / 2,
        (one: Judged) => one.conclusion === 'slower',
      ],
    ] as const) {
      const found = hits(COUNT, ++seed, (random, at) =>
        isWrong(stopped(pairOf(truth), noise, random, at).judged),
      );
      yield atMost(limit, {
        check: 'stopping-error',
        case: `${name}, ${how}`,
        count: COUNT,
        seed,
        hits: found,
      });
    }
  for (const sd of [0.005, 0.01, 0.02, 0.04])
    for (const times of [1, 2]) {
      const detectable = Math.expm1(margin + detectableShift(12, DEFAULTS.level, DEFAULTS.power) * PAIR * sd);
      let used = 0;
      const found = hits(COUNT, ++seed, (random, at) => {
        const { judged, rounds } = stopped(
          pairOf(Math.log1p(times * detectable)),
          plain(sd, normal),
          random,
          at,
        );
        used += rounds;
        return judged.conclusion === 'slower';
      });
      const what = `noise ${100 * sd} %, ${times === 2 ? 'twice ' : ''}the effect that 12 rounds detect (${(100 * times * detectable).toFixed(1)} %)`;
      const saved = {
        check: 'stopping-saving',
        case: `${what}: share of 12 rounds used`,
        count: COUNT,
        seed,
        hits: used / 12,
      };
      const told = {
        check: 'stopping-power',
        case: `${what}: called slower`,
        count: COUNT,
        seed,
        hits: found,
      };
      yield times === 2 ? atMost(0.6, saved) : reported(saved);
      yield times === 2 ? atLeast(DEFAULTS.power, told) : reported(told);
    }
  yield* plannedWithLooks(seed);
}

/** The noise floor of named nodes, from the reference alone (spec §6). Pure. */
import type { CalibrationNode, CalibrationSize, Clock, Throttle } from '../../schemas/calibration.ts';
import { JUDGED_FROM } from '../../shared/calibration-fit.ts';
import { correlation, mean, median, standardDeviation } from '../../shared/statistics.ts';
import type { SizeNoise } from '../../schemas/noise.ts';
import { type Gate, type GateProblem, gateProblems, medianNoise, noiseOf, writtenNoise } from './noise.ts';
import { referenceOf } from './measured-profile.ts';
import type { Samples } from './samples.ts';
import type { ReadSession } from './sources.ts';

/** Second half's warm p50 over the first half's, from 4 runs on; the middle one of an odd number counts as second. */
export const warmDrift = (warm: readonly number[] | undefined): number | null => {
  if (!warm || warm.length < 4) return null;
  const half = Math.floor(warm.length / 2);
  const first = median(warm.slice(0, half));
  return first > 0 ? median(warm.slice(half)) / first : null;
};

/** The cores' clock over the runs of one session. */
const clockOf = (samples: Samples, session: ReadSession): Clock => {
  const mhz = samples.mhz.values();
  const cpu = samples.cpu.values();
  const centre = mhz ? mean(mhz) : null;
  return {
    governors: session.pin.governors,
    scaling: !session.pin.fixedClock,
    mhz: centre,
    mhzCv: mhz && centre !== null && centre > 0 ? standardDeviation(mhz) / centre : null,
    cpuMhzCorrelation: mhz && cpu ? correlation(cpu, mhz) : null,
  };
};

/** Sums; null where any part was not measured. */
export const addThrottles = (all: readonly Throttle[]): Throttle => {
  const sum = (key: 'throttledSamples' | 'nrThrottled' | 'throttledUsec'): number | null =>
    all.reduce<number | null>(
      (total, one) => (total === null || one[key] === null ? null : total + one[key]),
      0,
    );
  return {
    samples: all.reduce((total, one) => total + one.samples, 0),
    throttledSamples: sum('throttledSamples'),
    nrThrottled: sum('nrThrottled'),
    throttledUsec: sum('throttledUsec'),
  };
};

const medianOrNull = (values: readonly (number | null)[]): number | null =>
  values.every((one) => one !== null) ? median(values) : null;

/** One node's sessions at one size: usually one; several of a node count by their medians, as a spread's nodes do. */
const nodeOf = (
  sessions: readonly ReadSession[],
  turns: number,
  gate: Gate,
  maxCv: number,
): CalibrationNode => {
  const all = sessions.map((one) => one.data.samples(referenceOf(one.profile).name, turns));
  const own = sessions[0]!.profile.metrics;
  const noise = medianNoise(all.map((one) => noiseOf(one, gate, own)));
  const clocks = all.map((one, at) => clockOf(one, sessions[at]!));
  const scaling = clocks.some((one) => one.scaling);
  const over = gateProblems(noise, gate, maxCv).map((one) => one.sentence);
  const problems = [...over, ...(scaling ? [scalingProblem(clocks)] : [])];
  return {
    runs: Math.min(...all.map((one) => one.count)),
    noise: writtenNoise(noise),
    warmDrift: medianOrNull(all.map((one) => warmDrift(one.warm.values()))),
    throttle: addThrottles(all.map((one) => one.throttle)),
    clock: {
      governors: Object.assign({}, ...clocks.map((one) => one.governors)) as Record<string, string>,
      scaling,
      mhz: medianOrNull(clocks.map((one) => one.mhz)),
      mhzCv: medianOrNull(clocks.map((one) => one.mhzCv)),
      cpuMhzCorrelation: medianOrNull(clocks.map((one) => one.cpuMhzCorrelation)),
    },
    pass: problems.length === 0,
    problems,
  };
};

const scalingProblem = (clocks: readonly Clock[]): string =>
  `its cores scale their clock (${
    [...new Set(clocks.flatMap((one) => Object.values(one.governors)))].join(', ') || 'governor unknown'
  }): reported, never judged`;

/** A run's sessions by the node they ran on, in the order met. */
const byNode = (sessions: readonly ReadSession[]): Map<string, ReadSession[]> =>
  Map.groupBy(sessions, (one) => one.facts.node);

/** One size: each node's entry, the median over sessions, and whether it is judged and passes. */
export const calibrationSize = (
  sessions: readonly ReadSession[],
  turns: number,
  gate: Gate,
  maxCv: number,
): { written: CalibrationSize; noise: SizeNoise; kinds: GateProblem['kind'][] } => {
  const nodes = Object.fromEntries(
    byNode(sessions)
      .entries()
      .map(([node, its]) => [node, nodeOf(its, turns, gate, maxCv)] as const),
  );
  const noise = medianNoise(
    sessions.map((one) =>
      noiseOf(one.data.samples(referenceOf(one.profile).name, turns), gate, one.profile.metrics),
    ),
  );
  const runs = Math.min(...Object.values(nodes).map((one) => one.runs));
  const scaling = Object.entries(nodes).filter(([, one]) => one.clock.scaling);
  const unfit = [
    ...(runs >= JUDGED_FROM ? [] : [`${runs} runs: a calibration is judged from ${JUDGED_FROM}`]),
    ...(scaling.length === 0
      ? []
      : [
          `judged on fixed clocks only: the cores of ${scaling.map(([name]) => `'${name}'`).join(', ')} scale`,
        ]),
  ];
  const over = gateProblems(noise, gate, maxCv);
  return {
    noise,
    kinds: over.map((one) => one.kind),
    written: {
      judged: unfit.length === 0,
      pass: unfit.length === 0 && over.length === 0,
      problems: unfit.concat(over.map((one) => one.sentence)),
      noise: writtenNoise(noise),
      nodes,
    },
  };
};

/** Of several nodes, those that are unfit on their own: to be left out, or calibrated again, also when the median passes. */
export const noisyNodes = (size: CalibrationSize): string[] =>
  Object.entries(size.nodes).flatMap(([name, node]) =>
    node.pass || Object.keys(size.nodes).length === 1
      ? []
      : [
          `node '${name}' is unfit on its own: ${node.problems.join('; ')}; leave it out, or calibrate it again`,
        ],
  );

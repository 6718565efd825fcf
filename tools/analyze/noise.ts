/** The reference's noise: CVs per size, medians over sessions, and the gate that they must pass (spec §6). Pure. */
import type { MetricNoise, SizeNoise } from '../../schemas/noise.ts';
import { cvText, limitText } from '../../shared/analysis-words.ts';
import { mean, median, roundTo, standardDeviation } from '../../shared/statistics.ts';
import type { OwnMetric } from './measured-profile.ts';
import type { Samples } from './samples.ts';

export type Gate = 'wall' | 'cpu';

/** Metric → the gates that hold it to the limit, in the order they are written. */
const GATED_BY: Readonly<Record<string, readonly Gate[]>> = {
  warm: ['wall'],
  cold: ['wall'],
  cpu: ['wall', 'cpu'],
  cpuWarm: ['wall', 'cpu'],
  cpuCold: ['wall', 'cpu'],
  cpuSeconds: [],
  peakRss: [],
  bytes: ['wall', 'cpu'],
};

/** These must be measurable when they are gated; the others gate only when they are reported. */
const REQUIRED = ['warm', 'cold', 'cpu'] as const;

const isGated = (metric: string, gate: Gate, own: readonly OwnMetric[]): boolean =>
  Object.hasOwn(GATED_BY, metric)
    ? GATED_BY[metric]!.includes(gate)
    : own.find((one) => one.key === metric)?.gated === true;

/** Exact noise of one value per sample. The CV is null where the mean is 0: there is nothing to divide by. */
export const noiseOfValues = (values: readonly number[], gated: boolean): MetricNoise => {
  const centre = mean(values);
  const sd = standardDeviation(values);
  return { n: values.length, mean: centre, sd, cv: centre === 0 ? null : sd / centre, gate: gated };
};

/** Noise of every metric that each of these samples has; a profile's own metrics stand last, in its order. */
export const noiseOf = (samples: Samples, gate: Gate, own: readonly OwnMetric[]): SizeNoise => {
  const columns: [string, number[] | undefined][] = [
    ['warm', samples.warm.values()],
    ['cold', samples.cold.values()],
    ['cpu', samples.cpu.values()],
    ['cpuWarm', samples.cpuWarm.values()],
    ['cpuCold', samples.cpuCold.values()],
    ['cpuSeconds', samples.cpuSeconds.values()],
    ['peakRss', samples.peakRss.values()],
    ['bytes', samples.bytes.values()],
    ...samples.own.map(({ metric, perSample }): [string, number[] | undefined] => [
      metric.key,
      perSample.values(),
    ]),
  ];
  const noise: SizeNoise = {};
  for (const [metric, values] of columns)
    if (values) noise[metric] = noiseOfValues(values, isGated(metric, gate, own));
  return noise;
};

/** Per metric that every session has: the median of mean, sd and CV, and the smallest n (spec §6). */
export const medianNoise = (all: readonly SizeNoise[]): SizeNoise => {
  const noise: SizeNoise = {};
  for (const [metric, { gate }] of Object.entries(all[0] ?? {})) {
    const each = all.map((one) => one[metric]);
    if (!each.every((one) => one !== undefined)) continue;
    const cvs = each.map((one) => one.cv);
    noise[metric] = {
      n: Math.min(...each.map((one) => one.n)),
      mean: median(each.map((one) => one.mean)),
      sd: median(each.map((one) => one.sd)),
      cv: cvs.every((one) => one !== null) ? median(cvs) : null,
      gate,
    };
  }
  return noise;
};

/** Mean and sd as they are written, rounded to 3 decimals; the CV stays exact (spec §6). */
export const writtenNoise = (noise: SizeNoise): SizeNoise =>
  Object.fromEntries(
    Object.entries(noise).map(([metric, one]) => [
      metric,
      { ...one, mean: roundTo(one.mean, 3), sd: roundTo(one.sd, 3) },
    ]),
  );

/** The same noise under another gate. */
export const gatedBy = (noise: SizeNoise, gate: Gate, own: readonly OwnMetric[]): SizeNoise =>
  Object.fromEntries(
    Object.entries(noise).map(([metric, one]) => [metric, { ...one, gate: isGated(metric, gate, own) }]),
  );

/** Why a metric does not pass: too few samples, not measured, or over the limit. */
export interface GateProblem {
  kind: 'few' | 'unmeasured' | 'noisy';
  sentence: string;
}

/** What the gate has to say against one size's noise: empty when it passes. Every rule is written as what must hold. */
export const gateProblems = (noise: SizeNoise, gate: Gate, maxCv: number): GateProblem[] => {
  const problems: GateProblem[] = [];
  for (const metric of REQUIRED)
    if (GATED_BY[metric]!.includes(gate) && noise[metric] === undefined)
      problems.push({
        kind: 'unmeasured',
        sentence: `${metric} was not measured in every sample, and the gate needs it`,
      });
  for (const [metric, { n, sd, cv, gate: gated }] of Object.entries(noise)) {
    if (!gated) continue;
    const found = metricProblem(n, sd, cv, maxCv);
    if (found) problems.push({ ...found, sentence: `${metric} ${found.sentence}` });
  }
  return problems;
};

const metricProblem = (n: number, sd: number, cv: number | null, maxCv: number): GateProblem | undefined => {
  if (!(n >= 3))
    return { kind: 'few', sentence: `has ${n} ${n === 1 ? 'sample' : 'samples'}, and a CV needs at least 3` };
  if (cv === null)
    return {
      kind: 'unmeasured',
      sentence: sd === 0 ? 'is 0 in every sample: it was not measured' : 'has a mean of 0, and so no CV',
    };
  // A signed metric's mean may be negative; its spread counts all the same.
  if (Math.abs(cv) <= maxCv) return undefined;
  const [found, limit] = [cvText(Math.abs(cv), maxCv), limitText(maxCv)];
  return {
    kind: 'noisy',
    sentence: `varies too much from run to run: its CV is ${found}, the limit is ${limit}`,
  };
};

/** calibration.json: the noise floor of named nodes, from the reference alone. Spec §6. Written by `analyze`, read by `plan` and `analyze`. */
import * as v from 'valibot';
import { sizeNoise } from './noise.ts';
import { count, finite, formatTag, gate, inputs, instant, sizeKey, text } from './primitives.ts';

/** How often CFS held the samples back. `null`: not measurable here. */
export const throttle = v.object({
  samples: count,
  /** Samples in which any period was throttled. */
  throttledSamples: v.nullable(count),
  nrThrottled: v.nullable(count),
  throttledUsec: v.nullable(finite),
});
export type Throttle = v.InferOutput<typeof throttle>;

/** The measured cores' clock. */
export const clock = v.object({
  governors: v.record(v.string(), v.string()),
  /** Whether the clock moves with load: such a node is reported, never judged. */
  scaling: v.boolean(),
  /** Mean of the cpu lines' clocks, MHz; null where no core reports one. */
  mhz: v.nullable(finite),
  mhzCv: v.nullable(finite),
  /** Pearson correlation of CPU time with clock; strongly negative: the clock moved the CPU time. */
  cpuMhzCorrelation: v.nullable(finite),
});
export type Clock = v.InferOutput<typeof clock>;

const calibrationNode = v.looseObject({
  runs: count,
  noise: sizeNoise,
  /** Second half's warm p50 over the first half's; null with fewer than 4 runs. */
  warmDrift: v.nullable(finite),
  throttle,
  clock,
  pass: v.boolean(),
  problems: v.array(text),
});
export type CalibrationNode = v.InferOutput<typeof calibrationNode>;

export const calibrationSize = v.looseObject({
  judged: v.boolean(),
  pass: v.boolean(),
  problems: v.array(text),
  noise: sizeNoise,
  /** Node name → its own noise and verdict. */
  nodes: v.record(v.string(), calibrationNode),
});
export type CalibrationSize = v.InferOutput<typeof calibrationSize>;

export const calibration = v.looseObject({
  format: formatTag('calibration/1'),
  run: text,
  at: instant,
  profile: text,
  rule: text,
  commit: v.string(),
  delivery: text,
  image: v.string(),
  bundleSha256: v.string(),
  artifacts: v.record(v.string(), v.unknown()),
  gate,
  maxCv: finite,
  sizes: v.record(sizeKey, calibrationSize),
  inputs,
});
export type Calibration = v.InferOutput<typeof calibration>;

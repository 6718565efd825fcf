/** noise.json: whether a comparison may be reported, and the reference's noise it was decided by. Spec §6. Written by `analyze`. */
import * as v from 'valibot';
import { count, finite, formatTag, gate, inputs, sha256, sizeKey, text } from './primitives.ts';

/** One metric of one size: mean and sd in the metric's unit (ms, MiB, bytes, s), rounded to 3 decimals; cv exact. */
const metricNoise = v.object({
  n: count,
  mean: finite,
  sd: finite,
  /** sd / mean; null when the mean is 0 (not measured, or nothing to divide by). */
  cv: v.nullable(finite),
  /** Whether this metric's CV is held to the limit. */
  gate: v.boolean(),
});
export type MetricNoise = v.InferOutput<typeof metricNoise>;

/** Metric name → its noise. */
export const sizeNoise = v.record(v.string(), metricNoise);
export type SizeNoise = v.InferOutput<typeof sizeNoise>;

export const noise = v.looseObject({
  format: formatTag('noise/1'),
  run: text,
  profile: text,
  gate,
  maxCv: finite,
  judged: v.boolean(),
  /** Why it was refused, one sentence each; empty when judged. */
  reasons: v.array(text),
  /** Size → the reference's noise in this run (median over nodes of several sessions). */
  sizes: v.record(sizeKey, sizeNoise),
  calibration: v.optional(v.object({ path: text, sha256 })),
  inputs,
});
export type Noise = v.InferOutput<typeof noise>;

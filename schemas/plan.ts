/**
 * plan.json: every step of a session, laid down before anything runs, and the compact plan from which both sides expand it.
 * Written by `plan`; `K8SBENCH_PLAN` and the standard input of `pod` carry the compact plan alone (DESIGN §3, spec §4).
 */
import * as v from 'valibot';
import { amount, count, delivery, dnsLabel, formatTag, mode, positive, sha256, text } from './primitives.ts';
import { profile } from './profile.ts';

export const compactPlan = v.object({
  format: formatTag('compact-plan/1'),
  run: dnsLabel,
  mode,
  /** The profile as measured; with `--aa` its targets include the control. */
  profile,
  /** Sizes, in the order given. */
  turns: v.pipe(v.array(positive), v.minLength(1)),
  rounds: v.pipe(count, v.minValue(3, 'expected at least 3 rounds')),
  warmupRounds: count,
  /** `rotate` (spec §5) or `balanced` (Williams squares drawn with `orderSeed`). */
  order: v.picklist(['rotate', 'balanced']),
  orderSeed: count,
  /** `auto`, `none` or a list of CPUs such as `0-1,4`. */
  pin: text,
  /** Whole CPUs asked for; the bound of GOMAXPROCS and of pin `auto`. */
  cpus: positive,
  allowFrequencyScaling: v.boolean(),
  delivery,
  /** The commit that the artifacts must have; absent: any. A prefix of at least 7 digits matches. */
  expectCommit: v.optional(text),
  limits: v.object({
    /** One step's wall time, s. */
    step_s: amount,
    /** The whole session's wall time, s; fires before the Job's deadline. */
    session_s: amount,
    /** Bytes of standard output kept from a seed or sample step. */
    stdout_bytes: positive,
  }),
});
export type CompactPlan = v.InferOutput<typeof compactPlan>;

/** One step: a seed, a warm-up or a sample of one target at one size; `sample` is the round, absent on seeds. */
export const step = v.object({
  step: v.picklist(['seed', 'warmup', 'sample']),
  target: text,
  turns: positive,
  sample: v.optional(count),
});
export type Step = v.InferOutput<typeof step>;

export const plan = v.object({
  format: formatTag('plan/1'),
  /** SHA-256 of the compact plan's exact JSON text, `planSha256` in the facts. */
  compactSha256: sha256,
  compact: compactPlan,
  steps: v.array(step),
});
export type Plan = v.InferOutput<typeof plan>;

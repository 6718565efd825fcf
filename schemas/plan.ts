/**
 * plan.json: every step of a session, laid down before anything runs, and the compact plan from which both sides expand it.
 * Written by `plan`; `K8SBENCH_PLAN` and the standard input of `pod` carry the compact plan alone (DESIGN §3, spec §4).
 */
import * as v from 'valibot';
import {
  amount,
  count,
  delivery,
  dnsLabel,
  finite,
  formatTag,
  mode,
  positive,
  sha256,
  text,
} from './primitives.ts';
import { profile } from './profile.ts';

/** Planned looks after which the rounds may end, and the question that is asked then (DESIGN §5): a rule laid down before. */
export const stopWhen = v.object({
  /** Rounds, ascending; the last is the planned end. */
  looks: v.pipe(
    v.array(positive),
    v.minLength(2, 'expected at least two looks'),
    v.maxLength(20, 'expected at most 20 looks'),
    v.check(
      (looks) => looks.every((one, at) => at === 0 || one > looks[at - 1]!),
      'expected ascending looks',
    ),
  ),
  margin: v.pipe(
    amount,
    v.check((margin) => margin > 0, 'expected a margin > 0'),
  ),
  /** The error allowed, two-sided, over all looks together. */
  level: v.pipe(
    finite,
    v.check((level) => level > 0 && level < 1, 'expected a level between 0 and 1'),
  ),
  /** Of drawn sign patterns. */
  seed: count,
});
export type StopWhen = v.InferOutput<typeof stopWhen>;

const compactPlanFields = v.object({
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
  /** Absent: every round is measured. */
  stopWhen: v.optional(stopWhen),
  limits: v.object({
    /** One step's wall time, s. */
    step_s: amount,
    /** The whole session's wall time, s; fires before the Job's deadline. */
    session_s: amount,
    /** Bytes of standard output kept from a seed or sample step. */
    stdout_bytes: positive,
  }),
});
export type CompactPlan = v.InferOutput<typeof compactPlanFields>;

export const compactPlan = v.pipe(
  compactPlanFields,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.stopWhen === undefined) return;
    const { mode: what, rounds, stopWhen: rule } = dataset.value;
    if (what !== 'compare') addIssue({ message: 'stopWhen: expected only in a comparison' });
    if (rule.looks.at(-1) !== rounds)
      addIssue({ message: `stopWhen.looks: expected the last look after round ${rounds}` });
  }),
);

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

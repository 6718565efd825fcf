/** trials-score.json: which arm solves how much of which tasks. `trials score` writes it. Shares are between 0 and 1. */
import * as v from 'valibot';
import { amount, count, finite, formatTag, inputs, positive, text } from './primitives.ts';

const share = v.pipe(amount, v.maxValue(1, 'expected a share between 0 and 1'));

/** A value with the ends of its interval; null ends: too few tasks, or tasks that are all the same. */
const estimate = v.strictObject({
  value: v.nullable(finite),
  low: v.nullable(finite),
  high: v.nullable(finite),
});

/** A chance of k tries, mean over the tasks with at least k verdicts. */
const tries = v.strictObject({
  k: positive,
  tasks: count,
  value: v.nullable(share),
  low: v.nullable(share),
  high: v.nullable(share),
});

/** Of the trials that measured it; `total` is their sum. */
const spread = v.strictObject({
  trials: positive,
  median: amount,
  p95: amount,
  max: amount,
  total: amount,
});

const tokens = v.strictObject({
  /** Trials that reported usage. */
  trials: positive,
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  totalTokens: amount,
  perTrial: amount,
  /** Of the trials that reported usage, also those that failed, for each solved one of them; null when none was. */
  perSolved: v.nullable(amount),
});

const cost = v.strictObject({
  currency: text,
  /** Trials whose every token has a price. */
  trials: positive,
  total: amount,
  perTrial: amount,
  perSolved: v.nullable(amount),
});

const counts = {
  trials: count,
  solved: count,
  failed: count,
  noVerdict: count,
};

const arm = v.strictObject({
  /** The arm, with its model when the trials have several: what the rest of the file calls it. */
  name: text,
  arm: text,
  model: text,
  ...counts,
  tasks: count,
  /** Solved ones of those with a verdict, with Wilson's interval: of these tasks, tries taken for independent. */
  rate: estimate,
  /** The same if every trial without verdict had failed, or had been solved. */
  rateIfNoneSolved: v.nullable(share),
  rateIfAllSolved: v.nullable(share),
  /** Mean over tasks, with the interval of tasks drawn again. */
  overTasks: estimate,
  /** Any of k tries solves a task (pass@k); all of k tries do (pass^k). */
  passAny: v.array(tries),
  passAll: v.array(tries),
  tokens: v.nullable(tokens),
  cost: v.nullable(cost),
  agentWall_s: v.nullable(spread),
  agentCpu_s: v.nullable(spread),
  verifierWall_s: v.nullable(spread),
  /** Why trials have no verdict, most frequent first. */
  withoutVerdict: v.array(v.strictObject({ why: text, trials: positive })),
});

/** `first` minus `second`, over tasks where both have a verdict. */
const difference = v.strictObject({
  first: text,
  second: text,
  tasks: count,
  /** Mean over tasks of the difference of their rates, with the interval of tasks drawn again. */
  rate: estimate,
  /** Pairs of trials, same task and same number, that both have a verdict; exact two-sided p. */
  mcnemar: v.strictObject({ pairs: count, onlyFirst: count, onlySecond: count, p: share }),
  /** Tasks by which arm solved more of those pairs; exact p of sign flips by task, and Holm's over all differences. */
  byTask: v.strictObject({ firstBetter: count, secondBetter: count, same: count, p: share, holm: share }),
  sentence: text,
});

const STATES = ['solved', 'failed', 'no verdict'] as const;

const attempt = v.strictObject({
  attempt: positive,
  state: v.picklist(STATES, `expected ${STATES.join(', ')}`),
  reward: v.nullable(finite),
  agentWall_s: v.nullable(amount),
  /** Why there is no verdict. */
  why: v.optional(text),
});

const doubt = v.strictObject({ name: text, value: finite, threshold: finite, sentence: text });

export const trialsScore = v.looseObject({
  format: formatTag('trials-score/1'),
  /** The run's id, when the trials stand in a run directory. */
  run: v.optional(text),
  /** Digests of what was read. */
  inputs,
  settings: v.strictObject({
    /** Of every interval. */
    level: share,
    /** How often tasks were drawn again, and the seed of the draws. */
    draws: positive,
    seed: count,
  }),
  ...counts,
  arms: v.array(arm),
  differences: v.array(difference),
  tasks: v.array(
    v.strictObject({
      task: text,
      /** By the arm's name, in the order of the numbers. */
      arms: v.record(text, v.array(attempt)),
    }),
  ),
  doubts: v.array(doubt),
});

export type Estimate = v.InferOutput<typeof estimate>;
export type Tries = v.InferOutput<typeof tries>;
export type Spread = v.InferOutput<typeof spread>;
export type ScoredArm = v.InferOutput<typeof arm>;
export type Difference = v.InferOutput<typeof difference>;
export type ScoredAttempt = v.InferOutput<typeof attempt>;
export type TrialState = (typeof STATES)[number];
export type TrialsDoubt = v.InferOutput<typeof doubt>;
/** What the writer gives; readers keep unknown keys. */
export type TrialsScore = v.InferOutput<v.ObjectSchema<(typeof trialsScore)['entries'], undefined>>;

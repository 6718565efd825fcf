/**
 * trials.json: what `trials --out DIR` printed: every Job that has to end for the run to be complete. It stands beside
 * trials.yaml, the manifests themselves, one document per Job in the same order. `trials apply`, `collect` and `score` read it. Spec §9.
 */
import * as v from 'valibot';
import {
  amount,
  dnsLabel,
  formatTag,
  inputs,
  pinnedImage,
  positive,
  revision,
  sha256,
  text,
  word,
} from './primitives.ts';
import { modelId } from './models-lock.ts';

const trial = v.strictObject({
  /** The Job's name. */
  job: dnsLabel,
  task: word,
  arm: word,
  attempt: positive,
  image: pinnedImage,
  /** Of the Job's document in trials.yaml, without the `---` lines. */
  sha256,
  /** When its pod is ended by the kubelet, s after it started. */
  limit_s: amount,
});

export const trials = v.pipe(
  v.strictObject({
    format: formatTag('trials/1'),
    /** Determined by the inputs alone; the Jobs' label `app.kubernetes.io/part-of`. */
    run: dnsLabel,
    namespace: dnsLabel,
    /** `pin` is the digest of the model's pin, as its marker holds it. */
    model: v.strictObject({ id: modelId, pin: sha256, url: text }),
    /** The SHA-256 of the staged bundle's archive before compression. */
    staged: sha256,
    dataset: v.strictObject({ name: text, commit: revision }),
    /** Digests of what was read: tasks.lock, models.lock, the arms' settings. */
    inputs,
    tasks: v.array(word),
    arms: v.array(word),
    attempts: positive,
    /** What of the restricted Pod Security level pods don't keep, and of which tasks. */
    relaxed: v.array(v.strictObject({ what: text, why: text, tasks: v.array(word) })),
    /** Tasks whose author wants them without a network: their pods have the cluster's all the same. Absent: none. */
    wantOffline: v.optional(v.pipe(v.array(word), v.minLength(1, 'expected at least one task'))),
    /** tasks × arms × attempts, attempts outermost: a run that is stopped early has tried everything equally often. */
    trials: v.array(trial),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { tasks, arms, attempts, trials: all } = dataset.value;
    const wanted = tasks.length * arms.length * attempts;
    if (all.length !== wanted)
      addIssue({ message: `trials: expected ${wanted}, tasks × arms × attempts, found ${all.length}` });
    if (new Set(all.map((one) => one.job)).size !== all.length)
      addIssue({ message: 'trials: expected each Job once' });
  }),
);

export type Trials = v.InferOutput<typeof trials>;
export type Trial = Trials['trials'][number];

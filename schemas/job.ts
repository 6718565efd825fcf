/** job.json: what became of a session: where it ran, its timeline, its outcome. Written by `run-session` alone, first at start. */
import * as v from 'valibot';
import { count, delivery, formatTag, instant, positive, sha256, text } from './primitives.ts';

/** `running` with no living runner is a local session that was killed, or one in a cluster that goes on by itself. */
export const outcome = v.picklist(['running', 'done', 'failed', 'invalid', 'interrupted']);

/** A process on this machine; a pid alone is used again, so its start time in clock ticks since boot stands beside it. */
const processIdentity = v.object({ pid: positive, start_ticks: count });
export type ProcessIdentity = v.InferOutput<typeof processIdentity>;

const verifiedLog = v.object({ lines: count, bytes: count, sha256, foreignLines: count });

export const job = v.looseObject({
  format: formatTag('job/1'),
  run: text,
  delivery,
  /** In a cluster: a word on the Job that tells it from another run's Job of the same name. */
  submission: v.optional(text),
  /** Words of earlier attempts, whose Jobs may still stand: such a Job is removed, never taken for this session's. */
  earlierSubmissions: v.optional(v.array(text)),
  /** In a cluster: the manifest that was submitted; `edited` says how it differs from what `render` writes. */
  manifest: v.optional(v.object({ sha256, edited: v.optional(v.array(text)) })),
  /** In a cluster: the Job and the one pod that may run it. */
  job: v.optional(v.object({ namespace: text, name: text, uid: text })),
  pod: v.optional(v.object({ name: text, uid: text, node: v.optional(text) })),
  /** The runner's machine and, while it runs, its process; local delivery measures there. */
  host: v.optional(text),
  runner: v.optional(processIdentity),
  /** Local delivery, while it runs: what a killed runner would leave behind. `data` stays when the fixtures were kept. */
  local: v.optional(
    v.object({
      /** The `pod` program. */
      pod: v.optional(processIdentity),
      /** Private directory of the fixtures, an absolute path. */
      data: v.optional(text),
      /** Directory of the cgroup that counts the session's CPU time. */
      cgroup: v.optional(text),
    }),
  ),
  timeline: v.pipe(
    v.array(v.looseObject({ at: instant, event: text, message: v.optional(text) })),
    v.minLength(1, 'expected at least one event'),
  ),
  outcome,
  /** Exit status (DESIGN §2.2), once it has ended. */
  exit: v.optional(count),
  /** Why, in one sentence, when it is not done. */
  message: v.optional(text),
  /** The verified log. */
  log: v.optional(verifiedLog),
  /** In a cluster, while what was made there is being removed: what the session came to. */
  ending: v.optional(
    v.object({ outcome, exit: count, message: v.optional(text), log: v.optional(verifiedLog) }),
  ),
});
export type Job = v.InferOutput<typeof job>;

/**
 * attempts.jsonl: one line per ending of a run, also refused and void ones, so that "retried until green" is visible.
 * Appended by `run-session` (failed, void) and `analyze` (judged, refused). DESIGN §3.
 */
import * as v from 'valibot';
import { count, formatTag, instant, mode, text } from './primitives.ts';

const fields = {
  format: formatTag('attempt/1'),
  at: instant,
  run: text,
  profile: text,
  rule: text,
  /** Absent in lines of before it was recorded. */
  mode: v.optional(mode),
  commit: v.string(),
  /**
   * `judged`; `refused` by a noise gate; `unjudged`: a calibration too short to say anything; `failed`; `void`: killed or
   * interrupted, nothing to judge; `invalid`: must not be judged.
   */
  outcome: v.picklist(['judged', 'refused', 'unjudged', 'failed', 'void', 'invalid']),
  exit: count,
  reasons: v.array(text),
};

export const attempt = v.looseObject(fields);
/** Its own fields alone: what a writer has to give. */
export type Attempt = v.InferOutput<v.ObjectSchema<typeof fields, undefined>>;

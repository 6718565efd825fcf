/**
 * attempts.jsonl: one line per ending of a run, also refused and void ones, so that "retried until green" is visible.
 * Appended by `run-session` (failed, void) and `analyze` (judged, refused). DESIGN §3.
 */
import * as v from 'valibot';
import { count, formatTag, instant, text } from './primitives.ts';

export const attempt = v.looseObject({
  format: formatTag('attempt/1'),
  at: instant,
  run: text,
  profile: text,
  rule: text,
  commit: v.string(),
  /** `judged`; `refused` by a noise gate; `failed`; `void`: killed or interrupted, nothing to judge; `invalid`: must not be judged. */
  outcome: v.picklist(['judged', 'refused', 'failed', 'void', 'invalid']),
  exit: count,
  reasons: v.array(text),
});
export type Attempt = v.InferOutput<typeof attempt>;

/** spread.json: the children of a run of several sessions. Written by `run-session`. Spec §6, DESIGN §3. */
import * as v from 'valibot';
import { dnsLabel, formatTag, text } from './primitives.ts';
import { outcome } from './job.ts';

export const spread = v.looseObject({
  format: formatTag('spread/1'),
  run: dnsLabel,
  /** `nodes`: side by side over nodes; `sessions`: in turn, with new fixtures. */
  over: v.picklist(['nodes', 'sessions']),
  /** In order; `dir` is the child's directory inside this one. A child that nobody began is `planned`. */
  children: v.array(
    v.looseObject({
      run: dnsLabel,
      dir: text,
      node: v.optional(text),
      outcome: v.picklist([...outcome.options, 'planned']),
    }),
  ),
});
export type Spread = v.InferOutput<typeof spread>;

/**
 * track.jsonl: one line per comparison, append-only. Spec §7: names, order and rounding are read by other programs.
 * `pig` and `pi…` are this format's names for candidate and reference; they appear nowhere else.
 */
import * as v from 'valibot';
import { conclusion, doubt, nodeType, verdict } from './analysis.ts';
import { count, finite, instant, positive, text } from './primitives.ts';

/** One metric against this run's reference and against its rolling median. */
export const compared = v.looseObject({
  pig: finite,
  piRun: finite,
  piRolling: finite,
  nRolling: positive,
  run: verdict,
  rolling: verdict,
  disagree: v.boolean(),
});

/** The one field of our own: exact values, the machine, who was measured and why. */
export const more = v.looseObject({
  values: v.record(v.string(), finite),
  nodeType,
  nodes: v.array(v.string()),
  candidate: text,
  reference: text,
  identities: v.record(
    v.string(),
    v.looseObject({ commit: v.optional(v.string()), sha256: v.optional(v.string()) }),
  ),
  purpose: v.optional(text),
  /** What `turns` counts; absent: turns. `processes`: those of a sample of plain commands. */
  counted: v.optional(v.literal('processes')),
  conclusions: v.array(conclusion),
  /** What weakens the rolling verdicts; absent: nothing. */
  doubts: v.optional(v.array(doubt)),
});

const fields = {
  at: instant,
  rule: text,
  warmTurns: count,
  /** First 10 digits of the commit; `-dirty` kept. */
  core: v.string(),
  turns: positive,
  fingerprint: text,
  /** Run id; a run counts once, by the base name of this. */
  run: text,
  /** The baseline's core, or `none`. */
  baseline: v.string(),
  /** One decimal, halves toward +∞. ms; MB (10^6 bytes); seedS in s. */
  values: v.record(v.string(), finite),
  /** `+12%`, `-3%` or `n/a`, per value. */
  delta: v.record(v.string(), v.string()),
  compare: v.record(v.string(), compared),
  disagree: v.array(v.string()),
  summary: v.string(),
  more: v.optional(more),
};

export const trackerLine = v.looseObject(fields);
/** Its own fields alone: what a writer has to give. */
export type TrackerLine = v.InferOutput<v.ObjectSchema<typeof fields, undefined>>;

/** What a line of the history must have to be used; older and foreign lines carry less, and values of other kinds. */
export const historyLine = v.looseObject({
  at: instant,
  rule: text,
  turns: positive,
  run: text,
  values: v.record(v.string(), v.unknown()),
});
export type HistoryLine = v.InferOutput<typeof historyLine>;

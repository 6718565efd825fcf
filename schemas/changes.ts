/**
 * What `tracker changes --json` and `tracker bisect --json` print: change points of a history, and the commits worth
 * measuring next, one JSON object a line (DESIGN §5). Ratios are candidate over reference.
 */
import * as v from 'valibot';
import { count, finite, formatTag, instant, positive, text } from './primitives.ts';

const amountAbove0 = v.pipe(
  finite,
  v.check((value) => value > 0, 'expected a number > 0'),
);

/** A run beside a change: the last one before it, or the first one after. */
const beside = v.looseObject({
  run: text,
  /** As the line says, `-dirty` kept; empty when it names none. */
  commit: v.string(),
  at: instant,
  /** Median ratio of the stretch of runs that it belongs to. */
  ratio: amountAbove0,
});

const series = {
  rule: text,
  turns: positive,
  /** What `turns` counts; absent: turns. `processes`: those of a sample of plain commands. */
  counted: v.optional(v.literal('processes')),
  /** The tracker's name of the value. */
  metric: text,
  /** `<cpuModel> [<cpuFeatures>] GOMAXPROCS <n>`: histories of different machines are apart. */
  nodeType: text,
};

export const change = v.looseObject({
  format: formatTag('change/1'),
  ...series,
  /** What the runs were ordered by: the repository's commits, or the times of their lines. */
  order: v.picklist(['commit', 'time']),
  before: beside,
  after: beside,
  /** The ratio after over the ratio before: 1.05 is 5 % more. */
  step: amountAbove0,
  p: finite,
  /** Runs of the whole history. */
  runs: positive,
});
export type Change = v.InferOutput<typeof change>;

export const bisectStep = v.looseObject({
  format: formatTag('bisect/1'),
  ...series,
  /** Last commit measured before the change, and first one after it. */
  good: text,
  bad: text,
  step: amountAbove0,
  p: finite,
  /** The commit to measure next; null: nothing is between, `bad` brought it. */
  next: v.nullable(text),
  /** Commits between that were not measured. */
  between: count,
  /** Runs of `next` that tell which side it is on, with one error in twenty. */
  runs: positive,
});
export type BisectStep = v.InferOutput<typeof bisectStep>;

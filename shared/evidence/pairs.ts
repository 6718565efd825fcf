/** Paired per-round differences of two targets: log-ratios, or plain differences for signed metrics. Pure. */
import { median, standardDeviation } from '../statistics.ts';
import type { EvidenceInput, Metric, Session } from './input.ts';

/** A target's values by round, net of the floor where the metric is; null where there is none. */
export type Values = readonly (number | null)[];

/** One target against the reference, at one size, on one metric. */
export interface Question {
  target: string;
  turns: number;
  metric: Metric;
}

/** The answer, round by round. */
export interface Pair extends Question {
  /** ln(target / reference), or target − reference for signed metrics; NaN in rounds that lack either. */
  differences: Float64Array;
  /** Median of the reference's values, in the metric's unit. */
  referenceMedian: number;
}

/** A question that the session can't answer. */
export interface NoPair extends Question {
  reason: string;
}

export const isPair = (one: Pair | NoPair): one is Pair => 'differences' in one;

/** Net values within this many standard deviations of the floor's own noise are not measured: below floor. */
const FLOOR_NOISE = 3;

const present = (values: Values): number[] => values.filter((one) => one !== null);

const valuesOf = (session: Session, target: string, { turns, metric }: Question): Values =>
  session.series.find((one) => one.target === target && one.turns === turns && one.metric === metric.key)
    ?.values ?? [];

/** Why values that are there have no ratio; undefined when they have one. `floor` is the floor's own values. */
const withoutRatio = (
  own: readonly number[],
  base: readonly number[],
  floor: readonly number[],
): string | undefined => {
  if (floor.length > 0 && !(Math.min(median(own), median(base)) > FLOOR_NOISE * standardDeviation(floor)))
    return "below floor: net of the floor nothing is left but the floor's own noise, so there is no ratio";
  return [own, base].every((values) => values.every((one) => one > 0))
    ? undefined
    : 'values of 0 or less have no ratio';
};

/** The target's differences from the reference in one session, or why there are none. */
export const pairOf = (input: EvidenceInput, session: Session, question: Question): Pair | NoPair => {
  const { target, metric } = question;
  const floor =
    metric.net && input.floor !== undefined ? present(valuesOf(session, input.floor, question)) : [];
  const lift = floor.length > 0 ? median(floor) : 0;
  const [mine, theirs] = [target, input.reference].map((name) => valuesOf(session, name, question));
  const rounds = Math.min(mine!.length, theirs!.length);
  const [both, own, base]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at < rounds; at++) {
    const [a, b] = [mine![at]!, theirs![at]!];
    if (a === null || b === null) continue;
    both.push(at);
    own.push(a - lift);
    base.push(b - lift);
  }
  if (both.length === 0) return { ...question, reason: 'no round has a value of both' };
  const reason = metric.signed ? undefined : withoutRatio(own, base, floor);
  if (reason !== undefined) return { ...question, reason };
  const differences = new Float64Array(rounds).fill(NaN);
  for (let at = 0; at < both.length; at++)
    differences[both[at]!] = metric.signed ? own[at]! - base[at]! : logRatio(own[at]!, base[at]!);
  return { ...question, differences, referenceMedian: median(base) };
};

/** ln(a / b), finite for all a, b > 0: numbers far apart have a quotient of 0 or infinity. */
export const logRatio = (a: number, b: number): number => {
  const logarithm = Math.log(a / b);
  return Number.isFinite(logarithm) ? logarithm : Math.log(a) - Math.log(b);
};

/** A log-ratio as a ratio; null where no number is that (an interval without an end, numbers too far apart). */
export const ratioOf = (logarithm: number): number | null => {
  const ratio = Math.exp(logarithm);
  return ratio > 0 && Number.isFinite(ratio) ? ratio : null;
};

/** The differences of the first `rounds` rounds that have one. */
export const presentDifferences = (pair: Pair, rounds = pair.differences.length): Float64Array =>
  pair.differences.subarray(0, rounds).filter((one) => !Number.isNaN(one));

/** The margin on the pair's own scale: ln(1 + margin), or that share of the reference for signed metrics. */
export const marginOf = (pair: Pair, margin: number): number =>
  pair.metric.signed ? margin * Math.abs(pair.referenceMedian) : Math.log1p(margin);

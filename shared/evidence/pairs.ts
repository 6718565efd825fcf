/** Paired per-round differences of two targets: log-ratios, or plain differences for signed metrics. Pure. */
import { median, standardDeviation } from '../statistics.ts';
import type { EvidenceInput, Metric, Session } from './input.ts';

/** A target's values by round, net of the floor where the metric is; null where there is none. */
export type Values = readonly (number | null)[];

/** One target against the reference, round by round. */
export interface Pair {
  target: string;
  turns: number;
  metric: Metric;
  /** ln(target / reference), or target − reference for signed metrics; NaN in rounds that lack either. */
  differences: Float64Array;
  /** Median of the reference's values, in the metric's unit. */
  referenceMedian: number;
}

/** Net values within this many standard deviations of the floor's own noise are not measured: below floor. */
const FLOOR_NOISE = 3;

const present = (values: Values): number[] => values.filter((one) => one !== null);

export const valuesOf = (
  session: Session,
  target: string,
  turns: number,
  metric: string,
): Values | undefined =>
  session.series.find((one) => one.target === target && one.turns === turns && one.metric === metric)?.values;

/** The target's differences from the reference in one session, or why there are none. */
export const pairOf = (
  input: EvidenceInput,
  session: Session,
  target: string,
  turns: number,
  metric: Metric,
): Pair | { reason: string } => {
  const of = (name: string): Values => valuesOf(session, name, turns, metric.key) ?? [];
  const [mine, theirs] = [of(target), of(input.reference)];
  const rounds = Math.min(mine.length, theirs.length);
  const floor = metric.net && input.floor !== undefined ? present(of(input.floor)) : [];
  const lift = floor.length > 0 ? median(floor) : 0;
  const net = (values: Values): Values => values.map((one) => (one === null ? null : one - lift));
  const [own, base] = [net(mine), net(theirs)];
  const both = Array.from({ length: rounds }, (_, at) => at).filter(
    (at) => own[at] !== null && base[at] !== null,
  );
  if (both.length === 0) return { reason: 'no round has a value of both' };
  const referenceMedian = median(both.map((at) => base[at]!));
  if (!metric.signed) {
    const least = Math.min(median(both.map((at) => own[at]!)), referenceMedian);
    if (floor.length > 0 && !(least > FLOOR_NOISE * standardDeviation(floor)))
      return {
        reason:
          "below floor: net of the floor nothing is left but the floor's own noise, so there is no ratio",
      };
    if (both.some((at) => !(own[at]! > 0 && base[at]! > 0)))
      return { reason: 'values of 0 or less have no ratio' };
  }
  const differences = new Float64Array(rounds).fill(NaN);
  for (const at of both)
    differences[at] = metric.signed ? own[at]! - base[at]! : Math.log(own[at]! / base[at]!);
  return { target, turns, metric, differences, referenceMedian };
};

/** A log-ratio as a ratio; null where it is not finite (an interval without an end). */
export const ratioOf = (logarithm: number): number | null =>
  Number.isFinite(logarithm) ? Math.exp(logarithm) : null;

/** The differences of the first `rounds` rounds that have one. */
export const presentDifferences = (pair: Pair, rounds = pair.differences.length): Float64Array =>
  pair.differences.subarray(0, rounds).filter((one) => !Number.isNaN(one));

/** The margin on the pair's own scale: ln(1 + margin), or that share of the reference for signed metrics. */
export const marginOf = (pair: Pair, margin: number): number =>
  pair.metric.signed ? margin * Math.abs(pair.referenceMedian) : Math.log1p(margin);

/** The values of a judged run's comparisons, as formats that keep histories want them. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import { trackerValues } from '../../shared/tracker-values.ts';
import { referenceKey } from '../../shared/verdict.ts';

/** One value of one target at one size. */
export interface Compared {
  rule: string;
  turns: number;
  target: string;
  /** The tracker's name of the value. */
  name: string;
  label: string;
  unit: string;
  better: 'lower' | 'higher';
  value: number;
}

/** Every value of candidates and references; a reference that several candidates share stands once. */
export const comparedValues = ({ comparisons, metrics }: Analysis): Compared[] => {
  const seen = new Set<string>();
  return comparisons.flatMap(({ rule, turns, candidate, reference, values }) =>
    trackerValues(metrics).flatMap(({ name, label, unit, better }) =>
      (
        [
          [candidate, values[name]],
          [reference, values[referenceKey(name)]],
        ] as const
      ).flatMap(([target, value]) => {
        const key = JSON.stringify([turns, target, name]);
        if (value === undefined || seen.has(key)) return [];
        seen.add(key);
        return [{ rule, turns, target, name, label, unit, better, value }];
      }),
    ),
  );
};

/** A conclusion's ratio, which other machines' values don't move. */
export interface Ratio {
  turns: number;
  candidate: string;
  reference: string;
  metric: string;
  ratio: number;
  low: number | null;
  high: number | null;
  sentence: string;
  /** When each session is concluded by itself. */
  session?: string;
}

/** Every ratio that was concluded; of sessions one by one, each session's. */
export const ratios = ({ conclusions, comparisons }: Analysis): Ratio[] =>
  conclusions.flatMap(({ candidate, turns, metric, ratio, low, high, sentence, session }) => {
    const reference = comparisons.find((one) => one.candidate === candidate)?.reference;
    if (ratio === null || reference === undefined) return [];
    return [
      {
        candidate,
        turns,
        metric,
        ratio,
        low,
        high,
        sentence,
        reference,
        ...(session === undefined ? {} : { session }),
      },
    ];
  });

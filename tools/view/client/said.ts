/** What the analysis says of a metric: conclusions, and intervals that are only shown. */
import type { RunPayload } from '../payload.ts';
import type { About } from './figure.ts';

/** An estimate with its interval: a ratio, or for signed metrics a difference. */
export interface Interval {
  candidate: string;
  turns: number;
  metric: string;
  session?: string;
  judged: boolean;
  signed: boolean;
  value: number;
  /** null: the rounds can't bound it. */
  low: number | null;
  high: number | null;
}

/** Every interval that the analysis gives, judged ones first. */
export const allIntervals = ({ analysis }: RunPayload): Interval[] => {
  const { conclusions, shown = [] } = analysis;
  const several = analysis.sessions.length > 1;
  return [
    ...conclusions.flatMap(({ candidate, turns, metric, session, difference, ratio, low, high }) => {
      const about = {
        candidate,
        turns,
        metric,
        judged: true,
        ...(session === undefined ? {} : { session }),
      };
      if (difference)
        return [
          {
            ...about,
            signed: true,
            value: difference.estimate,
            low: difference.low,
            high: difference.high,
          },
        ];
      return ratio === null ? [] : [{ ...about, signed: false, value: ratio, low, high }];
    }),
    ...shown.flatMap(({ candidate, turns, metric, session, ratio, low, high }) =>
      ratio === null
        ? []
        : [
            {
              candidate,
              turns,
              metric,
              judged: false,
              signed: false,
              value: ratio,
              low,
              high,
              ...(several ? { session } : {}),
            },
          ],
    ),
  ];
};

/** Those about one metric at one size, as they apply to one session. */
export const intervalsOf = (payload: RunPayload, about: About, session: string): Interval[] =>
  allIntervals(payload).filter(
    (one) =>
      one.turns === about.turns &&
      one.metric === about.metric &&
      (one.session === undefined || one.session === session),
  );

/** The rounds of a session as the evidence pairs them. */
import type { Metric } from '../../../shared/evidence/input.ts';
import { isPair, pairOf } from '../../../shared/evidence/pairs.ts';
import type { RunPayload, Series } from '../payload.ts';
import { type About, metricOf, seriesAbout } from './figure.ts';
import { type Target, targetsOf } from './looks.ts';

/** One round of one pair; a round that lacks either has no ratio. */
export interface Round {
  round: number;
  target: Target;
  /** In the metric's unit, as measured. */
  own: number;
  base: number;
  /** Target over reference, net of the floor where the evidence is; signed metrics: the difference. */
  ratio: number;
}

const valueAt = (series: Series | undefined, metric: string, round: number): number | null => {
  const at = series?.rounds.indexOf(round) ?? -1;
  return at === -1 ? null : (series!.values[metric]![at] ?? null);
};

const byRound = (series: Series, metric: string): (number | null)[] => {
  const all: (number | null)[] = Array<null>(Math.max(0, ...series.rounds.map((one) => one + 1))).fill(null);
  for (const [at, round] of series.rounds.entries()) all[round] = series.values[metric]![at]!;
  return all;
};

/** Whether its differences are looked at, not its ratios: also where nothing was concluded of it. */
export const isSigned = (payload: RunPayload, about: About): boolean =>
  metricOf(payload, about).signed === true ||
  payload.analysis.conclusions.some((one) => one.metric === about.metric && one.difference !== undefined);

/** The pairs of one session, as the evidence pairs them. */
export const roundsOf = (payload: RunPayload, about: About, session: string): Round[] => {
  const series = seriesAbout(payload, about).filter((one) => one.session === session);
  const reference = series.find((one) => one.role === 'reference');
  const floor = series.find((one) => one.role === 'floor');
  if (!reference) return [];
  const metric: Metric = {
    ...metricOf(payload, about),
    primary: true,
    signed: isSigned(payload, about),
    net: about.metric === 'warm' || about.metric === 'cold',
  };
  const evidence = {
    name: session,
    series: series.map((one) => ({ ...about, target: one.target, values: byRound(one, about.metric) })),
  };
  const input = {
    reference: reference.target,
    candidates: [],
    turns: [about.turns],
    metrics: [metric],
    sessions: [evidence],
    ...(floor ? { floor: floor.target } : {}),
  };
  return targetsOf(series)
    .filter(({ role }) => role === 'candidate' || role === 'control')
    .flatMap((target) => {
      const pair = pairOf(input, evidence, { target: target.name, turns: about.turns, metric });
      if (!isPair(pair)) return [];
      const own = series.find((one) => one.target === target.name);
      return Array.from(pair.differences.entries()).flatMap(([round, difference]) => {
        const [mine, theirs] = [own, reference].map((one) => valueAt(one, about.metric, round));
        if (Number.isNaN(difference) || mine === null || theirs === null) return [];
        return [
          {
            round: round + 1,
            target,
            own: mine!,
            base: theirs!,
            ratio: metric.signed ? difference : Math.exp(difference),
          },
        ];
      });
    });
};

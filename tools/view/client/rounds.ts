/** Round by round: both values of each pair, and below them their ratio with the margin and the concluded interval. */
import * as Plot from '@observablehq/plot';
import type { RunPayload } from '../payload.ts';
import {
  type About,
  asImage,
  element,
  type Kind,
  legend,
  metricOf,
  seriesAbout,
  sessionsOf,
  sessionHeading,
} from './figure.ts';
import {
  type Axis,
  dotRadius,
  frame,
  ratioAxis,
  ratioText,
  shownName,
  valueAxis,
  targetsOf,
  TIP,
  withUnit,
} from './looks.ts';
import { isSigned, type Round, roundsOf } from './pairs.ts';
import { type Interval, intervalsOf } from './said.ts';

const valuesPlot = (
  payload: RunPayload,
  about: About,
  rounds: readonly Round[],
  width: number,
  x: Plot.ScaleOptions,
): Element => {
  const metric = metricOf(payload, about);
  const axis = valueAxis(
    'y',
    rounds.flatMap((one) => [one.own, one.base]),
    5,
  );
  const reference = targetsOf(seriesAbout(payload, about)).find((one) => one.role === 'reference')!;
  const bases = [...new Map(rounds.map((one) => [one.round, one])).values()];
  const count = rounds.length;
  const label = `${metric.label}, ${metric.unit}${axis.log ? ' (logarithmic)' : ''}`;
  const dots = [
    ...bases.map((one) => ({ round: one.round, value: one.base, target: reference })),
    ...rounds.map((one) => ({ round: one.round, value: one.own, target: one.target })),
  ];
  const plot = Plot.plot({
    ...frame(width, 170, label),
    marginBottom: 8,
    marginLeft: 56,
    marginRight: 16,
    x: { ...x, axis: null },
    y: { label, ...axis.options },
    marks: [
      ...axis.marks,
      ...(count > 300
        ? []
        : [
            Plot.ruleX(rounds, {
              x: 'round',
              y1: 'base',
              y2: 'own',
              stroke: 'var(--muted)',
              strokeOpacity: 0.5,
            }),
          ]),
      Plot.dot(dots, {
        x: 'round',
        y: 'value',
        fill: (one: (typeof dots)[number]) => one.target.look.colour,
        symbol: (one: (typeof dots)[number]) => one.target.look.symbol,
        fillOpacity: 0.8,
        r: dotRadius(count),
      }),
      Plot.tip(
        dots,
        Plot.pointer({
          ...TIP,
          x: 'round',
          y: 'value',
          title: (one: (typeof dots)[number]) =>
            `${shownName(one.target.name)}, round ${one.round}\n${withUnit(one.value, metric)}`,
        }),
      ),
    ],
  });
  return asImage(plot, `${label} by round, candidate and reference of each round joined`);
};

/** An interval as a band with its estimate as a line; the line alone where the rounds can't bound it. */
const intervalMarks = ({ value, low, high }: Interval, colour: string): Plot.Markish[] => {
  const line = Plot.ruleY([value], { stroke: colour, strokeWidth: 2, strokeDasharray: '6,4' });
  if (low === null || high === null) return [line];
  return [Plot.rect([value], { y1: low, y2: high, fill: colour, fillOpacity: 0.2 }), line];
};

const ratioPlot = (
  payload: RunPayload,
  about: About,
  rounds: readonly Round[],
  session: string,
  width: number,
  x: Plot.ScaleOptions,
): Element => {
  const signed = isSigned(payload, about);
  const margin = payload.analysis.conclusions[0]?.margin;
  const intervals = intervalsOf(payload, about, session);
  const reference = targetsOf(seriesAbout(payload, about)).find((one) => one.role === 'reference')!;
  const unit = metricOf(payload, about).unit;
  const label = signed ? `difference, ${unit}` : `ratio to ${shownName(reference.name, 20)}`;
  const even = signed ? 0 : 1;
  const look = new Map(rounds.map((one) => [one.target.name, one.target.look]));
  const all = rounds
    .map((one) => one.ratio)
    .concat(intervals.flatMap((one) => [one.low, one.high]).filter((one) => one !== null));
  const low = Math.min(even, ...all);
  const high = Math.max(even, ...all);
  const axis: Axis = signed
    ? { log: false, options: { grid: true, nice: true, labelArrow: 'none' }, marks: [] }
    : ratioAxis('y', low / 1.03, high * 1.03, 8);
  const plot = Plot.plot({
    ...frame(width, 200, label),
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    x: { ...x, label: 'round' },
    y: { label, ...axis.options },
    marks: [
      ...axis.marks,
      ...(margin === undefined || signed
        ? []
        : [
            Plot.rect([margin], {
              y1: Math.max(1 / (1 + margin), low / 1.03),
              y2: Math.min(1 + margin, high * 1.03),
              fill: 'var(--muted)',
              fillOpacity: 0.16,
            }),
          ]),
      ...intervals.flatMap((one) => intervalMarks(one, look.get(one.candidate)?.colour ?? 'var(--muted)')),
      Plot.ruleY([even], { stroke: 'var(--text)' }),
      Plot.dot(rounds, {
        x: 'round',
        y: 'ratio',
        fill: (one: Round) => one.target.look.colour,
        symbol: (one: Round) => one.target.look.symbol,
        r: dotRadius(rounds.length),
      }),
      Plot.tip(
        rounds,
        Plot.pointer({
          ...TIP,
          x: 'round',
          y: 'ratio',
          title: (one: Round) =>
            `${shownName(one.target.name)}, round ${one.round}\n${signed ? `difference ${one.ratio.toPrecision(4)} ${unit}` : `ratio ${ratioText(one.ratio)}`}`,
        }),
      ),
    ],
  });
  return asImage(plot, `${label}, round by round, with the margin and the concluded interval`);
};

export const rounds: Kind<RunPayload> = {
  draw(payload, about, width) {
    const series = seriesAbout(payload, about);
    const sessions = sessionsOf(series);
    const drawn = sessions.flatMap((session) => {
      const pairs = roundsOf(payload, about, session);
      if (pairs.length === 0) return [];
      const most = Math.max(...pairs.map((one) => one.round));
      const x: Plot.ScaleOptions = {
        domain: [0.5, most + 0.5],
        ticks: most <= 15 ? Array.from({ length: most }, (_, at) => at + 1) : Math.max(3, width / 80),
      };
      return sessionHeading(sessions, session).concat(
        valuesPlot(payload, about, pairs, width, x),
        ratioPlot(payload, about, pairs, session, width, x),
      );
    });
    const shown = targetsOf(series).filter(({ role }) => role !== 'floor');
    return drawn.length === 0
      ? [element('p', 'no round has a value of both that a ratio could be made of', 'note')]
      : [legend(shown), ...drawn];
  },
  table(payload, about) {
    const { unit } = metricOf(payload, about);
    const signed = isSigned(payload, about);
    const sessions = sessionsOf(seriesAbout(payload, about));
    return {
      head: [
        'round',
        'session',
        'target',
        `target, ${unit}`,
        `reference, ${unit}`,
        signed ? `difference, ${unit}` : 'ratio',
      ],
      rows: sessions.flatMap((session) =>
        roundsOf(payload, about, session).map((one) => [
          one.round,
          shownName(session, 63),
          shownName(one.target.name),
          one.own,
          one.base,
          one.ratio,
        ]),
      ),
    };
  },
};

/** Every sample of every target on one axis, with the middle half and the median. */
import * as Plot from '@observablehq/plot';
import { quantile } from '../../../shared/statistics.ts';
import type { RunPayload, Series } from '../payload.ts';
import {
  type About,
  asImage,
  element,
  type Kind,
  metricOf,
  seriesAbout,
  sessionsOf,
  shownShort,
} from './figure.ts';
import { dotRadius, frame, shownName, targetsOf, TIP, valueAxis, withUnit } from './looks.ts';

interface Dot {
  row: string;
  value: number;
  round: number;
  series: Series;
}

/** Fractions that fill 0 to 1 evenly from the first on: dots beside each other don't hide each other, and nothing is drawn by lot. */
const evenly = (at: number): number => (at * 0.618033988749895) % 1;

const rowNames = (series: readonly Series[]): Map<Series, string> => {
  const sessions = sessionsOf(series);
  const short = shownShort(sessions);
  return new Map(
    series.map((one) => [
      one,
      sessions.length > 1
        ? `${shownName(one.target, 22)} · ${short.get(one.session)}`
        : shownName(one.target),
    ]),
  );
};

const known = (one: Series, metric: string): number[] =>
  one.values[metric]!.filter((value) => value !== null);

/** Some targets on one axis. */
const drawnRows = (payload: RunPayload, about: About, series: readonly Series[], width: number): Element => {
  const metric = metricOf(payload, about);
  const names = rowNames(series);
  const looks = new Map(targetsOf(seriesAbout(payload, about)).map((one) => [one.name, one.look]));
  const dots: Dot[] = series.flatMap((one) =>
    one.values[about.metric]!.flatMap((value, at) =>
      value === null ? [] : [{ row: names.get(one)!, value, round: one.rounds[at]!, series: one }],
    ),
  );
  const boxes = series.flatMap((one) => {
    const values = known(one, about.metric);
    if (values.length === 0) return [];
    const [low, middle, high] = [0.25, 0.5, 0.75].map((p) => quantile(values, p)) as [number, number, number];
    return [{ row: names.get(one)!, low, middle, high, colour: looks.get(one.target)!.colour }];
  });
  const rows = [...new Set(names.values())];
  const most = Math.max(...series.map((one) => one.rounds.length), 1);
  const axis = valueAxis(
    'x',
    dots.map((one) => one.value),
    Math.max(3, width / 110),
  );
  const label = `${metric.label}, ${metric.unit}${axis.log ? ' (logarithmic)' : ''}`;
  const y = (_: Dot, at: number): number => 0.12 + 0.76 * evenly(at);
  const plot = Plot.plot({
    ...frame(width, (most > 200 ? 84 : most > 40 ? 60 : 44) * rows.length + 48, label),
    marginLeft: Math.min(width / 3, 20 + 6.6 * Math.max(...rows.map((one) => one.length))),
    marginRight: 16,
    marginTop: 8,
    marginBottom: 40,
    x: { label, ...axis.options },
    y: { axis: null, domain: [0, 1] },
    fy: { domain: rows, label: null, padding: 0.15 },
    marks: [
      ...axis.marks,
      Plot.axisFy({ anchor: 'left', tickSize: 0, fontSize: 12 }),
      Plot.rect(boxes, {
        fy: 'row',
        x1: 'low',
        x2: 'high',
        y1: 0.04,
        y2: 0.96,
        fill: 'colour',
        fillOpacity: 0.16,
      }),
      Plot.dot(dots, {
        fy: 'row',
        x: 'value',
        y,
        r: dotRadius(most),
        fill: (one: Dot) => looks.get(one.series.target)!.colour,
        fillOpacity: most > 400 ? 0.5 : 0.75,
        symbol: (one: Dot) => looks.get(one.series.target)!.symbol,
      }),
      Plot.ruleX(boxes, { fy: 'row', x: 'middle', y1: 0, y2: 1, stroke: 'var(--text)', strokeWidth: 2 }),
      Plot.tip(
        dots,
        Plot.pointer({
          ...TIP,
          fy: 'row',
          x: 'value',
          y,
          title: (one: Dot) =>
            `${shownName(one.series.target)}, round ${one.round + 1}\n${withUnit(one.value, metric)}`,
        }),
      ),
    ],
  });
  return asImage(plot, `Distribution of ${label} by target; the table below has the numbers`);
};

/** A floor this many times lower than everything else would leave the others no room on its axis. */
const FAR = 4;

const isFar = (series: readonly Series[], metric: string): boolean => {
  const [floor, others] = [true, false].map((wanted) =>
    series.filter((one) => (one.role === 'floor') === wanted).flatMap((one) => known(one, metric)),
  );
  return (
    floor!.length > 0 && others!.length > 0 && FAR * Math.max(0, quantile(floor!, 0.5)) < quantile(others!, 0)
  );
};

export const distribution: Kind<RunPayload> = {
  draw(payload, about, width) {
    const order = targetsOf(seriesAbout(payload, about)).map((one) => one.name);
    const series = seriesAbout(payload, about).toSorted(
      (a, b) => order.indexOf(a.target) - order.indexOf(b.target),
    );
    const box = element('p', 'The line is the median, the shaded part holds the middle half.', 'note');
    if (!isFar(series, about.metric)) return [drawnRows(payload, about, series, width), box];
    const [floors, others] = [true, false].map((wanted) =>
      series.filter((one) => (one.role === 'floor') === wanted),
    );
    return [
      drawnRows(payload, about, others!, width),
      element('p', 'the floor, on an axis of its own', 'part'),
      drawnRows(payload, about, floors!, width),
      box,
    ];
  },
  table(payload, about) {
    const { unit } = metricOf(payload, about);
    const series = seriesAbout(payload, about);
    return {
      head: [
        'target',
        'session',
        'samples',
        ...['lowest', 'p25', 'median', 'p75', 'highest'].map((one) => `${one}, ${unit}`),
      ],
      rows: series.map((one) => {
        const values = known(one, about.metric);
        const at = (p: number): number | null => (values.length === 0 ? null : quantile(values, p));
        return [
          shownName(one.target),
          shownName(one.session, 63),
          values.length,
          at(0),
          at(0.25),
          at(0.5),
          at(0.75),
          at(1),
        ];
      }),
    };
  },
};

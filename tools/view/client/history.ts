/** A metric's ratios over the runs of a history, with the values of both below; change points are named. */
import * as Plot from '@observablehq/plot';
import { stepText } from '../../../shared/history-words.ts';
import type { HistoryChange, HistoryPayload, HistoryPoint, HistorySeries } from '../payload.ts';
import { type About, asImage, element, type Kind, legend, metricOf } from './figure.ts';
import { dotRadius, frame, ratioAxis, ratioText, shownName, TIP, valueAxis, withUnit } from './looks.ts';

interface Point {
  number: number;
  point: HistoryPoint;
  own: number;
  base: number;
}

const seriesAbout = ({ series }: HistoryPayload, about: About): HistorySeries => series[about.series]!;

const pointsOf = ({ points }: HistorySeries, metric: string): Point[] =>
  points.flatMap((point, at) => {
    const pair = point.values[metric];
    return pair ? [{ number: at + 1, point, own: pair[0], base: pair[1] }] : [];
  });

/** Change points of the metric, each with the number of its run. */
const changesOf = (
  { points, changes }: HistorySeries,
  metric: string,
): (HistoryChange & { number: number })[] =>
  changes
    .filter((one) => one.metric === metric)
    .flatMap((one) => {
      const at = points.findIndex((point) => point.run === one.run);
      return at === -1 ? [] : [{ ...one, number: at + 1 }];
    });

const ratio = (one: Point): number => one.own / one.base;

const about = ({ point }: Point): string =>
  `${point.at.slice(0, 16).replace('T', ' ')}${point.purpose === '' ? '' : `, ${shownName(point.purpose, 16)}`}, commit ${shownName(point.commit || 'not known', 24)}\n${shownName(point.run, 63)}`;

const CANDIDATE = { colour: 'var(--candidate)', symbol: 'circle' } as const;
const REFERENCE = { colour: 'var(--reference)', symbol: 'square' } as const;

export const history: Kind<HistoryPayload> = {
  draw(payload, where, width) {
    const series = seriesAbout(payload, where);
    const metric = metricOf(payload, where);
    const points = pointsOf(series, where.metric);
    const changes = changesOf(series, where.metric);
    const x: Plot.ScaleOptions = {
      domain: [0.5, Math.max(series.points.length, 2) + 0.5],
      ticks: series.points.length <= 12 ? series.points.map((_, at) => at + 1) : Math.max(3, width / 90),
      tickFormat: 'd',
    };
    const r = dotRadius(points.length);
    const all = points.map(ratio);
    const [low, high] = [Math.min(1, ...all) / 1.03, Math.max(1, ...all) * 1.03];
    const margins = { marginLeft: 56, marginRight: 16 };
    const ratioScale = ratioAxis('y', low, high, 8);
    const ratios = Plot.plot({
      ...frame(width, 240, 'ratio'),
      ...margins,
      marginTop: changes.length > 0 ? 34 : 22,
      x: { ...x, label: null },
      y: { label: 'candidate / reference', ...ratioScale.options },
      marks: [
        ...ratioScale.marks,
        Plot.ruleY([1], { stroke: 'var(--text)' }),
        Plot.ruleX(changes, {
          x: (one: (typeof changes)[number]) => one.number - 0.5,
          stroke: 'var(--change)',
          strokeWidth: 2,
          strokeDasharray: '5,3',
        }),
        Plot.text(changes, {
          x: (one: (typeof changes)[number]) => one.number - 0.5,
          frameAnchor: 'top',
          dy: -14,
          text: (one: (typeof changes)[number]) => `▼ ${stepText(one.step)}`,
          fill: 'var(--change)',
          fontWeight: 600,
        }),
        Plot.line(points, { x: 'number', y: ratio, stroke: 'var(--candidate)', strokeOpacity: 0.4 }),
        Plot.dot(points, { x: 'number', y: ratio, fill: 'var(--candidate)', r }),
        Plot.tip(
          points,
          Plot.pointerX({
            ...TIP,
            x: 'number',
            y: ratio,
            title: (one: Point) => `ratio ${ratioText(ratio(one))}\n${about(one)}`,
          }),
        ),
      ],
    });
    const both = points.flatMap((one) => [
      { ...one, value: one.own, who: 'candidate', look: CANDIDATE as { colour: string; symbol: string } },
      { ...one, value: one.base, who: 'reference', look: REFERENCE as { colour: string; symbol: string } },
    ]);
    const axis = valueAxis(
      'y',
      both.map((one) => one.value),
      5,
    );
    const label = `${metric.label}, ${metric.unit}${axis.log ? ' (logarithmic)' : ''}`;
    const values = Plot.plot({
      ...frame(width, 200, label),
      ...margins,
      marginBottom: 38,
      x: { ...x, label: 'run, oldest first', labelArrow: 'none' },
      y: { label, ...axis.options },
      marks: [
        ...axis.marks,
        Plot.line(both, {
          x: 'number',
          y: 'value',
          z: 'who',
          stroke: (one: (typeof both)[number]) => one.look.colour,
          strokeOpacity: 0.4,
        }),
        Plot.dot(both, {
          x: 'number',
          y: 'value',
          fill: (one: (typeof both)[number]) => one.look.colour,
          symbol: (one: (typeof both)[number]) => one.look.symbol as Plot.SymbolType,
          r,
        }),
        Plot.tip(
          both,
          Plot.pointer({
            ...TIP,
            x: 'number',
            y: 'value',
            title: (one: (typeof both)[number]) => `${one.who} ${withUnit(one.value, metric)}\n${about(one)}`,
          }),
        ),
      ],
    });
    return [
      legend([
        { name: 'candidate', role: 'candidate', look: CANDIDATE },
        { name: 'reference', role: 'reference', look: REFERENCE },
      ]),
      asImage(ratios, `Ratio of ${metric.label} over ${points.length} runs; the table below has the numbers`),
      asImage(values, `${label} of candidate and reference over ${points.length} runs`),
      ...(changes.length > 0
        ? [
            element(
              'p',
              `Change points: ${changes.map((one) => `before run ${one.number} (${shownName(one.before || '?', 16)} → ${shownName(one.after || '?', 16)}), ratio ${stepText(one.step)}`).join('; ')}.`,
              'note',
            ),
          ]
        : []),
    ];
  },
  table(payload, where) {
    const series = seriesAbout(payload, where);
    const { unit } = metricOf(payload, where);
    const changed = new Set(changesOf(series, where.metric).map((one) => one.number));
    return {
      head: [
        'run',
        'measured',
        'purpose',
        'commit',
        `candidate, ${unit}`,
        `reference, ${unit}`,
        'ratio',
        'change before it',
        'id',
      ],
      rows: pointsOf(series, where.metric).map((one) => [
        one.number,
        one.point.at,
        shownName(one.point.purpose, 16),
        shownName(one.point.commit, 40),
        one.own,
        one.base,
        one.own / one.base,
        changed.has(one.number) ? 'yes' : '',
        shownName(one.point.run, 63),
      ]),
    };
  },
};

/** All metrics of a size on one axis: each ratio with its interval, the margin and the line of no difference. */
import * as Plot from '@observablehq/plot';
import { percent } from '../../../shared/percent.ts';
import type { RunPayload } from '../payload.ts';
import { type About, asImage, element, type Kind, sessionsOf, shownShort } from './figure.ts';
import { frame, ratioAxis, ratioText, shownName, TIP } from './looks.ts';
import { allIntervals, type Interval } from './said.ts';

interface Row extends Interval {
  row: string;
}

const rowsOf = (payload: RunPayload, { turns }: About): Row[] => {
  const place = (one: Interval): number =>
    (one.judged ? 0 : payload.metrics.length) + payload.metrics.findIndex(({ key }) => key === one.metric);
  // A metric's sessions and candidates stand together.
  const all = allIntervals(payload)
    .filter((one) => one.turns === turns && !one.signed)
    .toSorted((a, b) => place(a) - place(b));
  const candidates = new Set(payload.analysis.comparisons.map((one) => one.candidate));
  const short = shownShort(sessionsOf(payload.series));
  const name = (one: Interval): string =>
    [
      payload.metrics.find((metric) => metric.key === one.metric)?.label ?? shownName(one.metric, 24),
      ...(candidates.size > 1 ? [shownName(one.candidate, 16)] : []),
      ...(one.session === undefined ? [] : [short.get(one.session) ?? shownName(one.session, 16)]),
    ].join(' · ');
  return all.map((one) => Object.assign({ row: name(one) }, one));
};

const colour = (one: Row): string => (one.judged ? 'var(--candidate)' : 'var(--muted)');

const text = ({ value, low, high }: Interval): string => {
  const bounds =
    low === null && high === null
      ? 'no interval'
      : `${low === null ? 'no bound' : ratioText(low)}–${high === null ? 'no bound' : ratioText(high)}`;
  return `${ratioText(value)} (${bounds})`;
};

export const ratios: Kind<RunPayload> = {
  draw(payload, about, width) {
    const rows = rowsOf(payload, about);
    if (rows.length === 0)
      return [element('p', 'the analysis gives no ratios with intervals at this size', 'note')];
    const margin = payload.analysis.conclusions[0]?.margin ?? 0;
    const names = [...new Set(rows.map((one) => one.row))];
    const ends = rows.flatMap((one) => [one.value, one.low ?? one.value, one.high ?? one.value]);
    const low = Math.min(1 / (1 + margin), ...ends) / 1.02;
    const high = Math.max(1 + margin, ...ends) * 1.02;
    const [reference] = payload.analysis.comparisons.map((one) => one.reference);
    const label = `ratio to ${shownName(reference ?? 'the reference')}`;
    const axis = ratioAxis('x', low, high, Math.max(3, width / 80));
    const plot = Plot.plot({
      ...frame(width, 30 * names.length + 62, label),
      marginLeft: Math.min(width / 3, 20 + 6.6 * Math.max(...names.map((one) => one.length))),
      marginRight: width > 520 ? 150 : 16,
      marginBottom: 40,
      marginTop: 18,
      x: { label, ...axis.options },
      y: { domain: names, label: null, type: 'band', padding: 0.3 },
      marks: [
        ...axis.marks,
        Plot.axisY({ tickSize: 0, fontSize: 12 }),
        Plot.rect([margin], {
          x1: 1 / (1 + margin),
          x2: 1 + margin,
          fill: 'var(--muted)',
          fillOpacity: 0.16,
        }),
        Plot.ruleX([1], { stroke: 'var(--text)' }),
        ...[true, false].map((bounded) =>
          Plot.ruleY(
            rows.filter((one) => (one.low !== null && one.high !== null) === bounded),
            {
              y: 'row',
              x1: (one: Row) => one.low ?? low,
              x2: (one: Row) => one.high ?? high,
              stroke: colour,
              strokeWidth: 3,
              ...(bounded ? {} : { strokeDasharray: '2,4' }),
            },
          ),
        ),
        Plot.dot(rows, {
          y: 'row',
          x: 'value',
          r: 5,
          fill: (one: Row) => (one.judged ? colour(one) : 'var(--page)'),
          stroke: colour,
          strokeWidth: 2,
        }),
        ...(width > 520
          ? [
              Plot.text(rows, {
                y: 'row',
                text,
                frameAnchor: 'right',
                textAnchor: 'start',
                dx: 8,
                fontVariant: 'tabular-nums',
              }),
            ]
          : []),
        Plot.tip(
          rows,
          Plot.pointerY({
            ...TIP,
            y: 'row',
            x: 'value',
            title: (one: Row) => `${one.row}\n${text(one)}\n${one.judged ? 'judged' : 'shown, not judged'}`,
          }),
        ),
      ],
    });
    const words = margin > 0 ? `the grey band is the margin of ${percent(margin)}; ` : '';
    return [
      asImage(
        plot,
        `${label}: the metrics of this size with their intervals; the table below has the numbers`,
      ),
      element(
        'p',
        `Filled: judged. Hollow: shown, not judged. Left of 1 is less than the reference; ${words}bars are 95 % intervals.`,
        'note',
      ),
    ];
  },
  table(payload, about) {
    return {
      head: ['metric', 'ratio', 'low', 'high', 'is'],
      rows: rowsOf(payload, about).map((one) => [
        one.row,
        one.value,
        one.low,
        one.high,
        one.judged ? 'judged' : 'shown',
      ]),
    };
  },
};

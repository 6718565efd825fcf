/** Samples in the order they were measured, and under them what the machine did meanwhile. */
import * as Plot from '@observablehq/plot';
import { atSize } from '../names.ts';
import type { Readings, RunPayload, Series } from '../payload.ts';
import {
  type About,
  asImage,
  element,
  type Kind,
  legend,
  metricOf,
  seriesAbout,
  sessionHeading,
  sessionsOf,
} from './figure.ts';
import { dotRadius, frame, shownName, targetsOf, TIP, valueAxis, withUnit } from './looks.ts';

interface Strip {
  name: Exclude<keyof Readings, 'start_s' | 'wall_s'>;
  label: string;
  scale: number;
  unit: string;
  /** What a strip without a single value above 0 means. */
  none?: string;
}

const STRIPS: readonly Strip[] = [
  {
    name: 'throttled',
    label: 'held back by quota',
    scale: 100,
    unit: '% of time',
    none: 'no sample was held back by the CPU quota',
  },
  { name: 'pressure', label: 'pressure', scale: 100, unit: '% of time', none: 'no sample stalled' },
  {
    name: 'steal',
    label: 'steal',
    scale: 100,
    unit: '% of time',
    none: 'no sample lost its cores to other machines',
  },
  { name: 'mhz', label: 'clock', scale: 1, unit: 'MHz' },
  { name: 'probe_s', label: 'speed probe', scale: 1e6, unit: 'µs' },
];

/** One sample's reading. */
interface Bar {
  from: number;
  to: number;
  value: number;
  what: string;
}

/** The strips, told whose pressure it is: a whole machine's is not the samples' own. */
const stripsOf = ({ pressureOf }: RunPayload): Strip[] =>
  STRIPS.map((one) =>
    one.name === 'pressure' && pressureOf !== 'cgroup'
      ? Object.assign({}, one, { label: 'pressure on the machine' })
      : one,
  );

const barsOf = (series: readonly Series[], strip: Strip, analysis: RunPayload['analysis']): Bar[] =>
  series.flatMap(({ target, turns, rounds, readings }) =>
    rounds.flatMap((round, at) => {
      const value = readings?.[strip.name][at] ?? null;
      const from = readings?.start_s[at];
      if (value === null || from === undefined) return [];
      const what = `${shownName(target)}${atSize(analysis, turns)}, round ${round + 1}`;
      return [{ from, to: from + (readings!.wall_s[at] ?? 0), value: value * strip.scale, what }];
    }),
  );

const middle = (one: Bar): number => (one.from + one.to) / 2;

const extentOf = (bars: readonly Bar[]): [number, number] => {
  let [low, high] = [Infinity, -Infinity];
  for (const { value } of bars) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
};

/** The strip of a reading; words instead where it is 0 throughout or was not measured. */
const stripOf = (
  analysis: RunPayload['analysis'],
  series: readonly Series[],
  strip: Strip,
  width: number,
  end: number,
): Element | string => {
  const bars = barsOf(series, strip, analysis);
  if (bars.length === 0) return `${strip.label} was not measured`;
  const [low, high] = extentOf(bars);
  if (high === 0 && strip.none !== undefined) return strip.none;
  const label = `${strip.label}, ${strip.unit}`;
  const shares = strip.none !== undefined;
  const title = (one: Bar): string => `${one.what}\n${one.value.toPrecision(3)} ${strip.unit}`;
  const plot = Plot.plot({
    ...frame(width, 76, label),
    marginLeft: 56,
    marginRight: 16,
    marginTop: 20,
    marginBottom: 6,
    x: { domain: [0, end], axis: null },
    y: {
      label,
      labelArrow: 'none',
      ticks: 2,
      grid: true,
      domain: shares ? [0, high] : [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)],
    },
    marks: [
      shares
        ? Plot.rect(bars, { x1: 'from', x2: 'to', y1: 0, y2: 'value', fill: 'var(--reading)' })
        : Plot.dot(bars, { x: middle, y: 'value', r: 1.6, fill: 'var(--reading)' }),
      Plot.tip(bars, Plot.pointerX({ ...TIP, x: middle, y: 'value', title })),
    ],
  });
  return asImage(plot, `${label} during the session`);
};

const valuesPlot = (
  payload: RunPayload,
  about: About,
  series: readonly Series[],
  width: number,
  end: number,
): Element => {
  const metric = metricOf(payload, about);
  const looks = new Map(targetsOf(seriesAbout(payload, about)).map((one) => [one.name, one.look]));
  const dots = series.flatMap((one) =>
    one.values[about.metric]!.flatMap((value, at) =>
      value === null
        ? []
        : [{ start: one.readings?.start_s[at] ?? at, value, round: one.rounds[at]!, target: one.target }],
    ),
  );
  const axis = valueAxis(
    'y',
    dots.map((one) => one.value),
    5,
  );
  const label = `${metric.label}, ${metric.unit}${axis.log ? ' (logarithmic)' : ''}`;
  const plot = Plot.plot({
    ...frame(width, 200, label),
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    x: { domain: [0, end], label: 'measuring time, s', ticks: Math.max(3, width / 90), labelArrow: 'none' },
    y: { label, ...axis.options },
    marks: [
      ...axis.marks,
      Plot.dot(dots, {
        x: 'start',
        y: 'value',
        fill: (one: (typeof dots)[number]) => looks.get(one.target)!.colour,
        symbol: (one: (typeof dots)[number]) => looks.get(one.target)!.symbol,
        fillOpacity: 0.8,
        r: dotRadius(dots.length),
      }),
      Plot.tip(
        dots,
        Plot.pointer({
          ...TIP,
          x: 'start',
          y: 'value',
          title: (one: (typeof dots)[number]) =>
            `${shownName(one.target)}, round ${one.round + 1}\n${withUnit(one.value, metric)}\nafter ${one.start.toFixed(1)} s`,
        }),
      ),
    ],
  });
  return asImage(plot, `${label} of every sample, in the order measured`);
};

const endOf = (series: readonly Series[]): number => {
  let end = 0;
  for (const { readings } of series)
    for (const [at, start] of (readings?.start_s ?? []).entries())
      end = Math.max(end, start + (readings!.wall_s[at] ?? 0));
  return end;
};

/** One session: its samples of this size, and what the machine did during all of them. */
const sessionPart = (
  payload: RunPayload,
  about: About,
  own: readonly Series[],
  session: string,
  width: number,
): Element[] => {
  // Sizes take turns within a round: what the machine did is shown for all of them.
  const all = payload.series.filter((one) => one.session === session);
  const end = endOf(all);
  if (end === 0)
    return [element('p', 'no log with readings: when each sample was measured is not known', 'note')];
  const mine = own.filter((one) => one.session === session);
  const strips = stripsOf(payload).map((strip) => stripOf(payload.analysis, all, strip, width, end));
  const words = strips.filter((one) => typeof one === 'string');
  return [
    valuesPlot(payload, about, mine, width, end),
    ...strips.filter((one) => typeof one !== 'string'),
    ...(words.length > 0 ? [element('p', `Also: ${words.join('; ')}.`, 'note')] : []),
  ];
};

export const timeline: Kind<RunPayload> = {
  draw(payload, about, width) {
    // The floor's processes are in the strips below; its values say nothing about the order of the others.
    const own = seriesAbout(payload, about).filter((one) => one.role !== 'floor');
    const sessions = sessionsOf(own);
    const parts = sessions.flatMap((session) =>
      sessionHeading(sessions, session).concat(sessionPart(payload, about, own, session, width)),
    );
    return [legend(targetsOf(own)), ...parts];
  },
  table(payload, about) {
    const { unit, label } = metricOf(payload, about);
    const cells = (one: Series, at: number) =>
      STRIPS.map((strip) => {
        const value = one.readings?.[strip.name][at] ?? null;
        return value === null ? null : value * strip.scale;
      });
    return {
      head: [
        'began, s',
        'session',
        'target',
        'round',
        `${label}, ${unit}`,
        ...STRIPS.map((one) => `${one.label}, ${one.unit}`),
      ],
      rows: seriesAbout(payload, about)
        .flatMap((one) =>
          one.rounds.map((round, at) => [
            one.readings?.start_s[at] ?? null,
            shownName(one.session, 63),
            shownName(one.target),
            round + 1,
            one.values[about.metric]![at]!,
            ...cells(one, at),
          ]),
        )
        .toSorted((a, b) => String(a[1]).localeCompare(String(b[1])) || Number(a[0]) - Number(b[0])),
    };
  },
};

/** How targets, numbers and plots look: the same in every figure. */
import * as Plot from '@observablehq/plot';
import { shortNumber } from '../../../shared/analysis-words.ts';
import { plainText } from '../../../shared/terminal.ts';
import type { SampleMetric } from '../../../shared/sample-values.ts';
import type { Role, Series } from '../payload.ts';

/** Colour and symbol together, so that neither carries the meaning alone. */
export interface Look {
  colour: string;
  symbol: Plot.SymbolType;
}

const CANDIDATES: readonly Look[] = [
  { colour: 'var(--candidate)', symbol: 'circle' },
  { colour: 'var(--candidate-2)', symbol: 'star' },
  { colour: 'var(--candidate-3)', symbol: 'wye' },
  { colour: 'var(--candidate-4)', symbol: 'cross' },
];
const OTHERS: Readonly<Record<Exclude<Role, 'candidate'>, Look>> = {
  reference: { colour: 'var(--reference)', symbol: 'square' },
  control: { colour: 'var(--control)', symbol: 'diamond' },
  floor: { colour: 'var(--floor)', symbol: 'triangle' },
};

/** Arms have no roles: each has the look of its place. */
const ARMS: readonly Look[] = [CANDIDATES[0]!, OTHERS.reference, ...CANDIDATES.slice(1)];

export const armLook = (place: number): Look => ARMS[place % ARMS.length]!;

export interface Target {
  name: string;
  role: Role;
  look: Look;
}

const RANK: readonly Role[] = ['candidate', 'reference', 'control', 'floor'];

/** The targets of some series: candidates first, then reference, control, floor. */
export const targetsOf = (series: readonly Series[]): Target[] => {
  const all = new Map(series.map((one) => [one.target, one.role]));
  const ranked = [...all].toSorted(([, a], [, b]) => RANK.indexOf(a) - RANK.indexOf(b));
  let candidates = 0;
  return ranked.map(([name, role]) => ({
    name,
    role,
    look: role === 'candidate' ? CANDIDATES[candidates++ % CANDIDATES.length]! : OTHERS[role],
  }));
};

/** A name as it may be shown: control characters as escapes, and not longer than a line of a figure. */
export const shownName = (name: string, most = 36): string => {
  const text = plainText(name);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

export const withUnit = (value: number, metric: SampleMetric): string =>
  `${shortNumber(value)} ${metric.unit}`;

/** A ratio as an axis and a tip say it. */
export const ratioText = (ratio: number): string =>
  ratio < 10 && ratio >= 0.1 ? ratio.toFixed(3) : String(Number(ratio.toPrecision(3)));

/** Ticks of a logarithmic axis, at most so many: whole decades, then their halves and fifths, then finer around 1. */
const STEPS: readonly (readonly number[])[] = [
  [1],
  [1, 3],
  [1, 2, 5],
  [1, 1.5, 2, 3, 5, 7],
  [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
  Array.from({ length: 90 }, (_, at) => 1 + at / 10),
  Array.from({ length: 180 }, (_, at) => 1 + at / 20),
  Array.from({ length: 900 }, (_, at) => 1 + at / 100),
  Array.from({ length: 1800 }, (_, at) => 1 + at / 200),
];

const logTicks = (low: number, high: number, most: number): number[] => {
  let best: number[] = [];
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  for (const steps of STEPS) {
    const ticks: number[] = [];
    for (let power = from; power <= to; power++)
      for (const step of steps) {
        const value = Number((step * 10 ** power).toPrecision(6));
        if (value >= low && value <= high) ticks.push(value);
      }
    if (ticks.length > most) break;
    best = ticks;
  }
  return best;
};

/** A tick's number without needless digits. */
const tickText = (value: number): string => String(Number(value.toPrecision(4)));

/** An axis of values: options of its scale, and marks where the scale's own axis would not do. */
export interface Axis {
  log: boolean;
  options: Plot.ScaleOptions;
  marks: Plot.Markish[];
}

/** A logarithmic axis with a number at every tick: the library's own leaves out those far from a power of ten. */
const logAxis = (along: 'x' | 'y', low: number, high: number, most: number): Axis => {
  const ticks = logTicks(low, high, most);
  const options = { text: tickText, labelArrow: 'none' } as const;
  return {
    log: true,
    options: { type: 'log', grid: true, domain: [low, high], ticks },
    marks: [along === 'x' ? Plot.axisX(ticks, options) : Plot.axisY(ticks, options)],
  };
};

/** The axis of some values: logarithmic where they span much. */
export const valueAxis = (along: 'x' | 'y', values: readonly number[], most: number): Axis =>
  spansDecades(values)
    ? logAxis(along, Math.min(...values) / 1.1, Math.max(...values) * 1.1, most)
    : { log: false, options: { grid: true, nice: true, ticks: most, labelArrow: 'none' }, marks: [] };

/** An axis of ratios. */
export const ratioAxis = (along: 'x' | 'y', low: number, high: number, most: number): Axis =>
  logAxis(along, low, high, most);

/** Dots shrink as they get many, so that each stays to be seen. */
export const dotRadius = (count: number): number =>
  count > 1500 ? 1.2 : count > 400 ? 1.8 : count > 80 ? 2.4 : 3.2;

/** What every plot of a page has. */
export const frame = (width: number, height: number, label: string): Plot.PlotOptions => ({
  width,
  height,
  ariaLabel: label,
  style: {
    background: 'none',
    color: 'var(--text)',
    fontSize: '12px',
    fontFamily: 'inherit',
    overflow: 'visible',
  },
});

export const TIP = { fill: 'var(--raised)', stroke: 'var(--line)', fontSize: 12, lineWidth: 24 } as const;

/** Whether a scale should be logarithmic: values above 0 that span more than so many times the smallest. */
const spansDecades = (values: readonly number[], times = 30): boolean => {
  let [low, high] = [Infinity, -Infinity];
  for (const one of values) {
    low = Math.min(low, one);
    high = Math.max(high, one);
  }
  return low > 0 && high / low > times;
};

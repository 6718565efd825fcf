/** What a benchmark finds: one figure of a row, with its goal. Ratios within one run; nothing here is ever asserted. */
import { median } from '../../shared/statistics.ts';

/** `most`: the value must not be larger; `least`: not smaller. */
export type Goal = { most: number } | { least: number };

export interface Figure {
  /** The row's name, as it is asked for on the command line. */
  row: string;
  what: string;
  goal: Goal;
  unit: '×' | '%' | 's' | 'MB';
  /** Median over the repetitions; null: not measured, and why. */
  value: number | null;
  /** Smallest and largest of the repetitions, and how many there were. */
  low?: number;
  high?: number;
  repetitions?: number;
  /** What the value was made of. */
  from: string;
}

export interface Asked {
  row: string;
  what: string;
  goal: Goal;
  unit: Figure['unit'];
  from: string;
}

/** A figure from one value per repetition. */
export const figureOf = (asked: Asked, values: readonly number[]): Figure => ({
  ...asked,
  value: median(values),
  low: Math.min(...values),
  high: Math.max(...values),
  repetitions: values.length,
});

export const notMeasured = (asked: Omit<Asked, 'from'>, why: string): Figure => ({
  ...asked,
  value: null,
  from: why,
});

/** One ratio per repetition: what ran side by side is divided, so a machine that slows down for a while slows both. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((one, at) => one / theirs[at]!);

export const holds = ({ value, goal }: Figure): boolean | undefined => {
  if (value === null) return undefined;
  return 'most' in goal ? value <= goal.most : value >= goal.least;
};

/** The median of some values and their range, for the words beside a figure. */
export const shown = (values: readonly number[], unit: string, digits = 2): string =>
  `${median(values).toFixed(digits)} ${unit}`;

/** Strips of samples beside a table's numbers: every sample of a metric in its place, in one line of a terminal. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { ResultLine } from '../../schemas/results.ts';
import { metricsOf, sampleValues } from '../../shared/sample-values.ts';
import { clipped, table } from '../../shared/terminal.ts';
import { trackerKey } from '../../shared/verdict.ts';

/** A strip has so many cells where there is room, and none where there is less room than the fewest. */
const CELLS = { most: 60, fewest: 20 };

/** Upper half: the first target's samples are there; lower half: the second's. */
const GLYPHS = [' ', '▀', '▄', '█'] as const;

/** Samples of a run by size, target and metric, and how wide the terminal is. */
export interface Strips {
  columns: number;
  /** Who was measured, in the order of the first round. */
  targets: readonly string[];
  values: ReadonlyMap<string, readonly number[]>;
}

/** Sample metrics that the tracker calls by another name, in other units. */
const BY_TRACKER = ['peakRss', 'retained'];

const keyOf = (turns: number, target: string, metric: string): string =>
  JSON.stringify([turns, target, metric]);

/** Every sample of a run, sessions together. */
export const stripsOf = (analysis: Analysis, rows: readonly ResultLine[], columns: number): Strips => {
  const metrics = metricsOf(analysis);
  const values = new Map<string, number[]>();
  for (const row of rows)
    for (const [metric, value] of sampleValues(row, metrics)) {
      const key = keyOf(row.turns, row.target, metric);
      const found = values.get(key);
      if (found) found.push(value);
      else values.set(key, [value]);
    }
  return { columns, targets: [...new Set(rows.map((one) => one.target))], values };
};

/**
 * The samples of one target or two from the smallest to the largest of them: by ratio where all are above 0, as they are
 * compared; else by difference.
 */
export const strip = (targets: readonly (readonly number[])[], cells: number): string => {
  const all = targets.flat();
  if (all.length === 0) return '';
  const scaled = all.every((one) => one > 0) ? Math.log : (one: number): number => one;
  let [low, high] = [Infinity, -Infinity];
  for (const one of all) [low, high] = [Math.min(low, scaled(one)), Math.max(high, scaled(one))];
  const width = high - low;
  const filled = Array.from({ length: cells }, () => 0);
  for (const [at, values] of targets.entries())
    for (const one of values)
      filled[width > 0 ? Math.round(((scaled(one) - low) / width) * (cells - 1)) : 0]! |= 1 << at;
  return filled.map((one) => GLYPHS[one]).join('');
};

/** The metric of the samples that a tracker's value is made of: `peakRss` for `peakRssMB`. */
export const metricNamed = (name: string): string =>
  BY_TRACKER.find((one) => trackerKey(one) === name) ?? name;

/** What the halves of a strip are. */
const legend = ([first, second]: readonly string[]): string =>
  second === undefined ? `samples of ${first}` : `▀ ${first} ▄ ${second} █ both`;

/**
 * The rows with one column more, where the terminal has room for it. `metrics` names the metric of each row below the head.
 */
export const withStrips = (
  rows: readonly (readonly string[])[],
  strips: Strips | undefined,
  about: { turns: number; targets: readonly string[]; metrics: readonly string[] },
): (readonly string[])[] => {
  if (!strips) return [...rows];
  const { columns, values } = strips;
  const taken = Math.max(
    ...table(rows)
      .split('\n')
      .map((line) => Bun.stringWidth(line)),
  );
  const cells = Math.min(CELLS.most, columns - taken - 3);
  if (cells < CELLS.fewest) return [...rows];
  return rows.map((row, at) => {
    const metric = about.metrics[at - 1];
    if (at === 0) return [...row, clipped(legend(about.targets), cells)];
    const of = about.targets.map((target) => values.get(keyOf(about.turns, target, metric ?? '')) ?? []);
    return [...row, strip(of, cells)];
  });
};

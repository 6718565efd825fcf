/** What other tasks of the same kind might have given: intervals from tasks drawn again. Pure. */
import { generator } from '../../../shared/evidence/random.ts';
import { quantileOfSorted } from '../../../shared/statistics.ts';
import type { Ends } from './proportions.ts';

/** Fewer tasks say little of others, and what is drawn from them even less: no interval. */
export const FEWEST_TASKS = 5;

/** One value per task; null where the task has none. Its statistic is the mean over those that have. */
export type Column = readonly (number | null)[];

/** Mean over the tasks that have a value; null without any. */
export const overTasks = (column: Column): number | null => {
  const values = column.filter((one) => one !== null);
  return values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length;
};

/**
 * Percentile intervals of each column's mean when tasks are drawn again with replacement, all of a task's tries together
 * (a bootstrap of clusters: tries of one task are alike). The same draws for every column. null where fewer than
 * {@link FEWEST_TASKS} tasks have a value, or all have the same: drawn again they would seem to be certain.
 */
export const taskIntervals = (
  columns: readonly Column[],
  { draws, seed, level = 0.95 }: { draws: number; seed: number; level?: number },
): (Ends | null)[] => {
  const tasks = columns[0]?.length ?? 0;
  const random = generator(seed);
  const values = columns.map((column) => Float64Array.from(column, (one) => one ?? 0));
  const there = columns.map((column) => Uint8Array.from(column, (one) => (one === null ? 0 : 1)));
  const means = columns.map(() => new Float64Array(draws));
  const drawn = new Int32Array(tasks);
  for (let draw = 0; draw < draws; draw++) {
    for (let at = 0; at < tasks; at++) drawn[at] = Math.floor(random() * tasks);
    for (let column = 0; column < columns.length; column++) {
      const [mine, has] = [values[column]!, there[column]!];
      let [sum, n] = [0, 0];
      for (let at = 0; at < tasks; at++) {
        const task = drawn[at]!;
        sum += mine[task]!;
        n += has[task]!;
      }
      means[column]![draw] = n === 0 ? Number.NaN : sum / n;
    }
  }
  return means.map((all, at) => {
    const own = columns[at]!.filter((one) => one !== null);
    const enough = own.length >= FEWEST_TASKS && own.some((one) => one !== own[0]);
    // A draw of tasks without any value has no mean.
    const sorted = all.filter((one) => !Number.isNaN(one)).toSorted();
    if (!enough || sorted.length === 0) return null;
    return [quantileOfSorted(sorted, (1 - level) / 2), quantileOfSorted(sorted, (1 + level) / 2)];
  });
};

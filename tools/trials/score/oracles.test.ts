/** Each statistic against SciPy, statsmodels and the published pass@k estimator: test/truth/trial-oracles.py writes what they say. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { overTasks, taskIntervals } from './over-tasks.ts';
import { holm, mcnemar, passAll, passAt, signFlips, wilson } from './proportions.ts';

interface Oracles {
  format: string;
  wilson: { solved: number; n: number; level: number; low: number; high: number }[];
  passes: { n: number; solved: number; k: number; any: number; all: number }[];
  pairs: { first: number; second: number; p: number }[];
  signs: { differences: number[]; p: number }[];
  adjusted: { ps: number[]; holm: number[] }[];
  bootstraps: {
    first: number[];
    second: number[];
    attempts: number;
    mean: number;
    error: number;
    low: number;
    high: number;
  }[];
}

const oracles = JSON.parse(
  readFileSync(join(import.meta.dir, '../../../test/truth/trial-oracles.json'), 'utf8'),
) as Oracles;

const near = (found: number, wanted: number, within = 1e-9): void =>
  expect(Math.abs(found - wanted)).toBeLessThanOrEqual(within);

test('the oracles are of this format', () => expect(oracles.format).toBe('trial-oracles/1'));

test.each(oracles.wilson)(
  "Wilson's interval of $solved in $n at $level",
  ({ solved, n, level, ...wanted }) => {
    const [low, high] = wilson(solved, n, level);
    near(low, wanted.low);
    near(high, wanted.high);
  },
);

test.each(oracles.passes)('pass@$k and pass^$k of $solved in $n', ({ n, solved, k, any, all }) => {
  near(passAt(n, solved, k), any, 1e-12);
  near(passAll(n, solved, k), all, 1e-12);
});

test.each(oracles.pairs)('McNemar of $first and $second', ({ first, second, p }) => {
  near(mcnemar(first, second) / p, 1);
  expect(mcnemar(second, first)).toBe(mcnemar(first, second));
});

test.each(oracles.signs)('sign flips of $differences', ({ differences, p }) =>
  near(signFlips(differences), p, 1e-12),
);

test.each([
  [6, 0],
  [5, 2],
  [40, 22],
])('sign flips with one try per task are McNemar: %d and %d', (first, second) =>
  near(signFlips([...Array(first).fill(1), ...Array(second).fill(-1), 0, 0]), mcnemar(first, second), 1e-12),
);

test.each(oracles.adjusted)('Holm of $ps', (row) => {
  for (const [at, one] of holm(row.ps).entries()) near(one, row.holm[at]!, 1e-12);
});

test.each(oracles.bootstraps)(
  'a bootstrap over $first.length tasks',
  ({ first, second, attempts, ...wanted }) => {
    const column = first.map((one, at) => (one - second[at]!) / attempts);
    near(overTasks(column)!, wanted.mean, 1e-12);
    const [found] = taskIntervals([column], { draws: 20_000, seed: 1 });
    // Both sides draw; the steps of a mean of few tasks are 1 / (tasks · attempts).
    const within = 0.05 * wanted.error + 1 / (first.length * attempts);
    near(found![0], wanted.low, within);
    near(found![1], wanted.high, within);
  },
);

test('a bootstrap of five tasks against every draw there is', () => {
  const column = [1, 0.5, 0, 0, 1];
  const means: number[] = [];
  for (let at = 0; at < 5 ** 5; at++)
    means.push([0, 1, 2, 3, 4].reduce((sum, one) => sum + column[Math.floor(at / 5 ** one) % 5]!, 0) / 5);
  means.sort((a, b) => a - b);
  const [found] = taskIntervals([column], { draws: 20_000, seed: 3 });
  expect(found).toEqual([means[Math.round(0.025 * 3124)]!, means[Math.round(0.975 * 3124)]!]);
});

test('the same seed draws the same tasks, and a column is the same beside others', () => {
  const columns = [
    [0, 1, 1, 0, 0.5, 1],
    [1, null, 0, 0, 1, 1],
  ];
  const asked = { draws: 500, seed: 5 };
  expect(taskIntervals(columns, asked)).toEqual(taskIntervals(columns, asked));
  expect(taskIntervals(columns, asked)[1]).toEqual(taskIntervals([columns[1]!], asked)[0]!);
});

test.each([[[]], [[1, 0, 1, 1]], [[1, 0, 1, 1, null, null]], [[1, 1, 1, 1, 1, 1, null]]])(
  'fewer than five tasks with a value, or tasks that are all the same, have no interval: %j',
  (column) => expect(taskIntervals([column], { draws: 100, seed: 1 })).toEqual([null]),
);

/** How often a difference of nothing is claimed, and how often intervals hold the truth, over simulated tasks that differ in difficulty. */
import { expect, test } from 'bun:test';
import { generator } from '../../../shared/evidence/random.ts';
import { overTasks, taskIntervals } from './over-tasks.ts';
import { mcnemar, passAll, passAt, signFlips } from './proportions.ts';

const RUNS = 2000;

/** A task's chance to be solved: easy ones, hard ones, few between. */
const chance = (random: () => number): number => {
  const u = random();
  return u < 0.3 ? 0.05 : u < 0.6 ? 0.95 : random();
};

test.each([
  [6, 1],
  [20, 3],
  [40, 5],
])('arms that are the same: %d tasks, %d tries', (tasks, tries) => {
  const random = generator(100 * tasks + tries);
  let [pairs, byTask] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    let [first, second] = [0, 0];
    const differences: number[] = [];
    for (let task = 0; task < tasks; task++) {
      const p = chance(random);
      let difference = 0;
      for (let at = 0; at < tries; at++) {
        const [a, b] = [random() < p, random() < p];
        if (a && !b) first++;
        if (b && !a) second++;
        difference += Number(a) - Number(b);
      }
      differences.push(difference);
    }
    if (mcnemar(first, second) <= 0.05) pairs++;
    if (signFlips(differences) <= 0.05) byTask++;
  }
  // Exact tests keep their level; three standard errors for the simulation.
  const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / RUNS);
  expect(pairs / RUNS).toBeLessThanOrEqual(most);
  expect(byTask / RUNS).toBeLessThanOrEqual(most);
});

test('arms that differ on some tasks: the test by task claims no more than it may of tasks like these, pairs do', () => {
  // Half of the tasks favour one arm, half the other, drawn anew: the mean difference over tasks is nothing.
  const random = generator(77);
  let [pairs, byTask] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    let [first, second] = [0, 0];
    const differences = Array.from({ length: 12 }, () => {
      const [p, q] = random() < 0.5 ? [0.95, 0.05] : [0.05, 0.95];
      let difference = 0;
      for (let at = 0; at < 5; at++) {
        const [a, b] = [random() < p, random() < q];
        if (a && !b) first++;
        if (b && !a) second++;
        difference += Number(a) - Number(b);
      }
      return difference;
    });
    if (mcnemar(first, second) <= 0.05) pairs++;
    if (signFlips(differences) <= 0.05) byTask++;
  }
  expect(byTask / RUNS).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt((0.05 * 0.95) / RUNS));
  expect(pairs / RUNS).toBeGreaterThan(0.2);
});

test('intervals over tasks hold the truth nearly as often as they say', () => {
  const random = generator(5);
  // Mean of the chances: 0.3 · 0.05 + 0.3 · 0.95 + 0.4 · 0.5.
  const truth = 0.5;
  let held = 0;
  const runs = 600;
  for (let run = 0; run < runs; run++) {
    const column = Array.from({ length: 30 }, () => {
      const p = chance(random);
      return [1, 2, 3].filter(() => random() < p).length / 3;
    });
    const [ends] = taskIntervals([column], { draws: 400, seed: run });
    if (ends![0] <= truth && truth <= ends![1]) held++;
  }
  expect(held / runs).toBeGreaterThan(0.9);
});

test('pass@k and pass^k are right on average', () => {
  const random = generator(6);
  for (const [p, n, k] of [
    [0.3, 5, 2],
    [0.6, 5, 3],
    [0.1, 8, 5],
  ] as const) {
    const [any, all]: [number[], number[]] = [[], []];
    for (let run = 0; run < 40_000; run++) {
      let solved = 0;
      for (let at = 0; at < n; at++) if (random() < p) solved++;
      any.push(passAt(n, solved, k));
      all.push(passAll(n, solved, k));
    }
    expect(Math.abs(overTasks(any)! - (1 - (1 - p) ** k))).toBeLessThan(0.01);
    expect(Math.abs(overTasks(all)! - p ** k)).toBeLessThan(0.01);
  }
});

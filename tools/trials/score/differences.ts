/** Arms against each other, task by task. Pure. */
import type { Difference } from '../../../schemas/trials-score.ts';
import { pText } from '../../../shared/p-value.ts';
import type { Verdicts } from './arm-score.ts';
import { type ArmTrials, stateOf } from './counted.ts';
import type { Column } from './over-tasks.ts';
import { holm, mcnemar, signFlips } from './proportions.ts';

/** Two arms, by their place. */
export type Pair = readonly [first: number, second: number];

/** Every two arms once, in their order. */
export const pairsOf = (arms: number): Pair[] =>
  Array.from({ length: arms }, (_, first) =>
    Array.from({ length: arms - first - 1 }, (__, at): Pair => [first, first + at + 1]),
  ).flat();

/** By task, how much more often the first arm solved it; null where either has no verdict. */
export const differenceColumn = (first: readonly Verdicts[], second: readonly Verdicts[]): Column =>
  first.map((mine, at) => {
    const other = second[at]!;
    return mine.n === 0 || other.n === 0 ? null : mine.solved / mine.n - other.solved / other.n;
  });

/** Pairs of trials of one task with the same number, both with a verdict: who alone solved it. */
const pairedBy = (
  first: ArmTrials,
  second: ArmTrials,
  task: string,
): { pairs: number; onlyFirst: number; onlySecond: number } => {
  const others = new Map((second.tasks.get(task) ?? []).map((one) => [one.attempt, stateOf(one.line)]));
  const found = { pairs: 0, onlyFirst: 0, onlySecond: 0 };
  for (const { attempt, line } of first.tasks.get(task) ?? []) {
    const [mine, other] = [stateOf(line), others.get(attempt)];
    if (mine === 'no verdict' || other === undefined || other === 'no verdict') continue;
    found.pairs++;
    if (mine === 'solved' && other === 'failed') found.onlyFirst++;
    if (mine === 'failed' && other === 'solved') found.onlySecond++;
  }
  return found;
};

/** A difference without its interval, its place among the others, and its sentence. */
export const comparedArms = (first: ArmTrials, second: ArmTrials, order: readonly string[]) => {
  const byTask = order.map((task) => pairedBy(first, second, task));
  const total = (key: 'pairs' | 'onlyFirst' | 'onlySecond'): number =>
    byTask.reduce((sum, one) => sum + one[key], 0);
  const [onlyFirst, onlySecond] = [total('onlyFirst'), total('onlySecond')];
  const differences = byTask.filter((one) => one.pairs > 0).map((one) => one.onlyFirst - one.onlySecond);
  return {
    mcnemar: { pairs: total('pairs'), onlyFirst, onlySecond, p: mcnemar(onlyFirst, onlySecond) },
    byTask: {
      firstBetter: differences.filter((one) => one > 0).length,
      secondBetter: differences.filter((one) => one < 0).length,
      same: differences.filter((one) => one === 0).length,
      p: signFlips(differences),
    },
  };
};

const points = (share: number): string =>
  (100 * share)
    .toFixed(1)
    .replace(/^-0\.0$/, '0.0')
    .replace(/^(?!-)/, '+');

const sentence = ({ first, second, tasks, rate, byTask }: Omit<Difference, 'sentence'>): string => {
  if (rate.value === null) return `'${first}' and '${second}' have no task with a verdict of both`;
  const over = `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
  const interval =
    rate.low === null || rate.high === null ? 'no interval' : `${points(rate.low)} to ${points(rate.high)}`;
  return `'${first}' solved ${points(rate.value)} points against '${second}' over ${over} (${interval}; by task ${pText(byTask.holm)})`;
};

/** With Holm's p over all of them, and in words. */
export const withWords = (
  all: readonly (Omit<Difference, 'byTask' | 'sentence'> & { byTask: Omit<Difference['byTask'], 'holm'> })[],
): Difference[] => {
  const adjusted = holm(all.map((one) => one.byTask.p));
  return all.map((one, at) => {
    const whole = { ...one, byTask: { ...one.byTask, holm: adjusted[at]! } };
    return { ...whole, sentence: sentence(whole) };
  });
};

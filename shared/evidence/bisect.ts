/** Which commits are worth measuring next, to pin down the changes of a history. Pure. */
import { changePoints, type Change } from './changes.ts';
import { quantile, standardDeviation } from '../statistics.ts';
import { normalQuantile } from './distributions.ts';

/** One run of a history: its commit and its log-ratio of candidate to reference. */
export interface Run {
  commit: string;
  value: number;
}

export interface Advice {
  /** Last commit measured before the change, and first one after it. */
  good: string;
  bad: string;
  /** The step, as a log-ratio. */
  step: number;
  p: number;
  /** The commit to measure next: in the middle of those between that were not measured; null: none is left, `bad` brought it. */
  next: string | null;
  /** Commits between that were not measured. */
  between: number;
  /** Runs of `next` that tell which side it is on with one error in twenty, at this history's noise. */
  runs: number;
}

/** Runs whose mean lies on the right side of the middle of the step, 19 times of 20. */
const runsFor = (step: number, noise: number): number =>
  Math.max(1, Math.ceil(((normalQuantile(0.95) * noise) / (Math.abs(step) / 2)) ** 2));

/** Spread of a history around its steps, from the differences of neighbours: a step adds one large difference and no more. */
export const noiseOf = (values: readonly number[]): number => {
  const steps = values.slice(1).map((one, at) => Math.abs(one - values[at]!));
  if (steps.length === 0) return 0;
  // The median distance of two normal values is 0.954 standard deviations.
  const middle = quantile(steps, 0.5) / 0.9538726;
  return middle > 0 ? middle : standardDeviation(values);
};

/**
 * Advice per change, the newest first. `commits` is the history of the repository, oldest first; `runs` are in the same
 * order, of commits that need not be in it. A change whose neighbours are not both in `commits` has no commits between.
 */
export const bisectAdvice = (
  commits: readonly string[],
  runs: readonly Run[],
  changes: readonly Change[] = changePoints(runs.map((one) => one.value)),
): Advice[] => {
  const noise = noiseOf(runs.map((one) => one.value));
  const measured = new Set(runs.map((one) => one.commit));
  return changes.toReversed().map(({ at, p, before, after }) => {
    const [good, bad] = [runs[at - 1]!.commit, runs[at]!.commit];
    const [from, to] = [commits.indexOf(good), commits.indexOf(bad)];
    const between = from < 0 || to < 0 ? [] : commits.slice(from + 1, to).filter((one) => !measured.has(one));
    const step = after - before;
    return {
      good,
      bad,
      step,
      p,
      next: between[Math.floor((between.length - 1) / 2)] ?? null,
      between: between.length,
      runs: runsFor(step, noise),
    };
  });
};

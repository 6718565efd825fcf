/** One arm's numbers: what it solved, and what that took. Pure. */
import type { Prices } from '../../../schemas/prices.ts';
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { ScoredArm, Spread } from '../../../schemas/trials-score.ts';
import { median, quantile } from '../../../shared/statistics.ts';
import { type ArmTrials, stateOf, whyNot } from './counted.ts';
import type { Column } from './over-tasks.ts';
import { passAll, passAt, wilson } from './proportions.ts';

/** Tokens as an arm reports them; one that does not apply is 0. */
type Usage = NonNullable<TrialLine['usage']>;

/** Verdicts of one task: how many, and how many of them solved it. */
export interface Verdicts {
  n: number;
  solved: number;
}

/** By task, in the order given; a task without a verdict has n = 0. */
export const verdictsOf = ({ tasks }: ArmTrials, order: readonly string[]): Verdicts[] =>
  order.map((task) => {
    const states = (tasks.get(task) ?? []).map((one) => stateOf(one.line));
    const solved = states.filter((one) => one === 'solved').length;
    return { solved, n: states.filter((one) => one !== 'no verdict').length };
  });

/** The columns whose means are the arm's: its rate, then pass@k and pass^k for each k. */
export const columnsOf = (verdicts: readonly Verdicts[], ks: readonly number[]): Column[] => [
  verdicts.map(({ n, solved }) => (n === 0 ? null : solved / n)),
  ...ks.map((k) => verdicts.map(({ n, solved }) => (n < k ? null : passAt(n, solved, k)))),
  ...ks.map((k) => verdicts.map(({ n, solved }) => (n < k ? null : passAll(n, solved, k)))),
];

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

const seconds = (
  lines: readonly TrialLine[],
  key: 'agentWallMs' | 'agentCpuMs' | 'verifierWallMs',
): Spread | null => {
  const values = lines.flatMap((one) => (typeof one[key] === 'number' ? [one[key] / 1000] : []));
  if (values.length === 0) return null;
  return {
    trials: values.length,
    median: median(values),
    p95: quantile(values, 0.95),
    max: Math.max(...values),
    total: sum(values),
  };
};

const KINDS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

const perSolved = (total: number, solved: number): number | null => (solved === 0 ? null : total / solved);

/** What trials took that told their tokens, and how many of these were solved: both are of the same trials. */
interface Told {
  usages: readonly Usage[];
  solved: number;
}

const tokensOf = ({ usages, solved }: Told): ScoredArm['tokens'] => {
  if (usages.length === 0) return null;
  const total = (key: keyof Usage): number => sum(usages.map((one) => one[key]));
  const all = total('totalTokens');
  return {
    trials: usages.length,
    input: total('input'),
    output: total('output'),
    cacheRead: total('cacheRead'),
    cacheWrite: total('cacheWrite'),
    totalTokens: all,
    perTrial: all / usages.length,
    perSolved: perSolved(all, solved),
  };
};

/** What a trial's tokens cost; undefined when any kind of them has no price. */
export const costOf = (
  usage: Usage,
  price: Prices['models'][string]['perMillionTokens'] | undefined,
): number | undefined => {
  if (price === undefined || KINDS.some((kind) => usage[kind] > 0 && price[kind] === undefined))
    return undefined;
  return sum(KINDS.map((kind) => (usage[kind] * (price[kind] ?? 0)) / 1e6));
};

const costsOf = ({ usages, solved }: Told, model: string, prices: Prices | undefined): ScoredArm['cost'] => {
  const price = prices?.models[model]?.perMillionTokens;
  const costs = usages.map((one) => costOf(one, price)).filter((one) => one !== undefined);
  if (prices === undefined || costs.length === 0) return null;
  const total = sum(costs);
  return {
    currency: prices.currency,
    trials: costs.length,
    total,
    perTrial: total / costs.length,
    // Of all that told their tokens, or of none: what has no price would look cheap.
    perSolved: costs.length === usages.length ? perSolved(total, solved) : null,
  };
};

/** Reasons, most frequent first, then by their text. */
const frequent = (reasons: readonly string[]): { why: string; trials: number }[] =>
  [...Map.groupBy(reasons, (one) => one)]
    .map(([why, all]) => ({ why, trials: all.length }))
    .toSorted((a, b) => b.trials - a.trials || (a.why < b.why ? -1 : 1));

/** Everything of an arm but what is estimated over tasks. */
export const armScore = (
  arm: ArmTrials,
  prices: Prices | undefined,
  level: number,
): Omit<ScoredArm, 'overTasks' | 'passAny' | 'passAll'> => {
  const trials = [...arm.tasks.values()].flat();
  const states = trials.map((one) => stateOf(one.line));
  const count = (state: string): number => states.filter((one) => one === state).length;
  const [solved, failed, noVerdict] = [count('solved'), count('failed'), count('no verdict')];
  const verdicts = solved + failed;
  const [low, high] = verdicts === 0 ? [null, null] : wilson(solved, verdicts, level);
  const lines = trials.flatMap((one) => (one.line ? [one.line] : []));
  const telling = lines.filter((one) => one.usage);
  const told: Told = {
    usages: telling.map((one) => one.usage!),
    solved: telling.filter((one) => stateOf(one) === 'solved').length,
  };
  return {
    name: arm.name,
    arm: arm.arm,
    model: arm.model,
    trials: trials.length,
    solved,
    failed,
    noVerdict,
    tasks: arm.tasks.size,
    rate: { value: verdicts === 0 ? null : solved / verdicts, low, high },
    rateIfNoneSolved: trials.length === 0 ? null : solved / trials.length,
    rateIfAllSolved: trials.length === 0 ? null : (solved + noVerdict) / trials.length,
    tokens: tokensOf(told),
    cost: costsOf(told, arm.model, prices),
    agentWall_s: seconds(lines, 'agentWallMs'),
    agentCpu_s: seconds(lines, 'agentCpuMs'),
    verifierWall_s: seconds(lines, 'verifierWallMs'),
    withoutVerdict: frequent(
      trials.filter((one) => stateOf(one.line) === 'no verdict').map((one) => whyNot(one.line)),
    ),
  };
};

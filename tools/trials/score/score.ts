/** From trial lines to trials-score.json: who solves how much of what. Pure. */
import type { Prices } from '../../../schemas/prices.ts';
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { Estimate, Tries, TrialsScore } from '../../../schemas/trials-score.ts';
import { failed } from '../../../shared/failure.ts';
import { armScore, columnsOf, verdictsOf } from './arm-score.ts';
import { armsOf, attemptOf, countedTrials, type Planned, stateOf } from './counted.ts';
import { comparedArms, differenceColumn, pairsOf, withWords } from './differences.ts';
import { doubtsOf, online } from './doubts.ts';
import { type Column, overTasks, taskIntervals } from './over-tasks.ts';
import type { Ends } from './proportions.ts';

export interface Asked {
  run?: string;
  lines: readonly TrialLine[];
  /** What was to be done; empty: what the lines name. */
  planned: readonly Planned[];
  prices?: Prices;
  inputs: Readonly<Record<string, string>>;
  /** Tasks that were to have no network. */
  wantOffline?: readonly string[];
  /** How often tasks are drawn again, and the seed of the draws. */
  draws: number;
  seed: number;
}

const LEVEL = 0.95;

/** Up to ten tries one by one, then as far apart as a logarithm's ticks; the most verdicts a task has are always there. */
const triesUpTo = (most: number): number[] => {
  const ks = Array.from({ length: Math.min(most, 10) }, (_, at) => at + 1);
  for (let ten = 10; ten <= most; ten *= 10)
    for (const one of [2, 5, 10]) if (one * ten < most) ks.push(one * ten);
  return most > 10 ? [...ks, most] : ks;
};

const estimateOf = (column: Column, ends: Ends | null): Estimate => ({
  value: overTasks(column),
  low: ends?.[0] ?? null,
  high: ends?.[1] ?? null,
});

const triesOf = (
  ks: readonly number[],
  columns: readonly Column[],
  ends: readonly (Ends | null)[],
): Tries[] =>
  ks.map((k, at) => ({
    k,
    tasks: columns[at]!.filter((one) => one !== null).length,
    ...estimateOf(columns[at]!, ends[at]!),
  }));

/** Bytewise, as files are sorted. */
const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const scoreOf = ({
  lines,
  planned,
  prices,
  inputs,
  draws,
  seed,
  run,
  wantOffline = [],
}: Asked): TrialsScore => {
  const { trials, problems } = countedTrials(lines, planned);
  if (problems.length > 0) throw failed(problems.slice(0, 20));
  if (trials.length === 0) throw failed('there is no trial to score');
  // Lines come in the order in which trials ended, which says nothing; the plan's order is the user's.
  const arms = armsOf(planned.length > 0 ? trials : trials.toSorted((a, b) => byName(a.arm, b.arm)));
  const tasks = [...new Set(trials.map((one) => one.task))];
  const order = planned.length > 0 ? tasks : tasks.toSorted(byName);
  const verdicts = arms.map((arm) => verdictsOf(arm, order));
  const most = Math.max(1, ...verdicts.flat().map((one) => one.n));
  const ks = triesUpTo(most);
  const pairs = pairsOf(arms.length);
  const ofArms = verdicts.map((one) => columnsOf(one, ks));
  const ofPairs = pairs.map(([first, second]) => differenceColumn(verdicts[first]!, verdicts[second]!));
  const ends = taskIntervals([...ofArms.flat(), ...ofPairs], { draws, seed, level: LEVEL });
  const width = 1 + 2 * ks.length;
  const scored = arms.map((arm, at) => {
    const [mine, own] = [ofArms[at]!, ends.slice(at * width, (at + 1) * width)];
    return {
      ...armScore(arm, prices, LEVEL),
      overTasks: estimateOf(mine[0]!, own[0]!),
      passAny: triesOf(ks, mine.slice(1, 1 + ks.length), own.slice(1, 1 + ks.length)),
      passAll: triesOf(ks, mine.slice(1 + ks.length), own.slice(1 + ks.length)),
    };
  });
  const differences = withWords(
    pairs.map(([first, second], at) => ({
      first: arms[first]!.name,
      second: arms[second]!.name,
      tasks: ofPairs[at]!.filter((one) => one !== null).length,
      rate: estimateOf(ofPairs[at]!, ends[arms.length * width + at]!),
      ...comparedArms(arms[first]!, arms[second]!, order),
    })),
  );
  const count = (state: string): number => trials.filter((one) => stateOf(one.line) === state).length;
  return {
    format: 'trials-score/1',
    ...(run === undefined ? {} : { run }),
    inputs: { ...inputs },
    settings: { level: LEVEL, draws, seed },
    trials: trials.length,
    solved: count('solved'),
    failed: count('failed'),
    noVerdict: count('no verdict'),
    arms: scored,
    differences,
    tasks: order.map((task) => ({
      task,
      arms: Object.fromEntries(
        arms.flatMap((arm) => {
          const mine = arm.tasks.get(task);
          return mine ? [[arm.name, mine.map(attemptOf)]] : [];
        }),
      ),
    })),
    doubts: [...doubtsOf(trials, arms, scored, order.length, prices), ...online(wantOffline)],
  };
};

/** A trials-score's numbers as rows of texts, the head first, for terminals and for pages. Pure; everything is in trials-score.json. */
import type {
  Difference,
  Estimate,
  ScoredArm,
  ScoredAttempt,
  Tries,
  TrialsScore,
  TrialState,
} from '../schemas/trials-score.ts';
import { shortNumber } from './analysis-words.ts';
import { pShown } from './p-value.ts';

/** Solved, failed and no verdict as they stand in a grid. */
export const SIGNS: Readonly<Record<TrialState, string>> = { solved: '+', failed: '-', 'no verdict': '?' };

/** More tries than that are counted in a grid's cell, not shown one by one. */
const MOST_SIGNS = 12;

const percent = (share: number | null): string =>
  share === null ? '' : (100 * share).toFixed(1).replace(/^-0\.0$/, '0.0');

/** The ends of an interval in %, or why there is none. */
export const intervalText = ({ value, low, high }: Estimate | Tries): string =>
  value === null ? '' : low === null || high === null ? 'none' : `${percent(low)} – ${percent(high)}`;

/** How long, in the unit that fits. */
const secondsText = (seconds: number): string => {
  if (seconds < 100) return `${shortNumber(seconds)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const two = (one: number): string => String(one).padStart(2, '0');
  return hours > 0 ? `${hours}h${two(minutes)}m` : `${minutes}m${two(whole % 60)}s`;
};

/** Large counts with a letter behind: 1.22M. */
const tokensText = (tokens: number): string =>
  tokens >= 1e9
    ? `${(tokens / 1e9).toFixed(2)}G`
    : tokens >= 1e6
      ? `${(tokens / 1e6).toFixed(2)}M`
      : tokens >= 1e3
        ? `${(tokens / 1e3).toFixed(1)}k`
        : tokens.toFixed(0);

/** An amount of money with its currency. */
const costText = (amount: number, currency: string): string =>
  `${amount >= 1 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)} ${currency}`;

/** One line per arm: what it solved of how much, in %. Names are foreign text. */
export const armRows = ({ arms }: Pick<TrialsScore, 'arms'>): string[][] => [
  ['arm', 'solved', 'verdicts', 'none', 'rate %', '95 % (Wilson)', 'by task %', '95 % (tasks)'],
  ...arms.map((one) => [
    one.name,
    String(one.solved),
    String(one.solved + one.failed),
    String(one.noVerdict),
    percent(one.rate.value),
    intervalText(one.rate),
    percent(one.overTasks.value),
    intervalText(one.overTasks),
  ]),
];

/** Tries that people ask for; the file has all of them. */
const SHOWN_TRIES = [1, 2, 3, 5, 10];

/** pass@k and pass^k by arm, in %; the tasks that have so many verdicts where not all have. */
export const triesRows = ({ arms }: Pick<TrialsScore, 'arms'>): string[][] => {
  const ks = SHOWN_TRIES.filter((k) => arms.some((arm) => arm.passAny.some((one) => one.k === k)));
  const cell = ({ tasks }: ScoredArm, all: readonly Tries[], k: number): string => {
    const found = all.find((one) => one.k === k);
    if (!found || found.value === null) return '';
    return percent(found.value) + (found.tasks < tasks ? ` (${found.tasks} tasks)` : '');
  };
  return [
    ['arm', ...ks.map((k) => `pass@${k} %`), ...ks.slice(1).map((k) => `pass^${k} %`)],
    ...arms.map((arm) => [
      arm.name,
      ...ks.map((k) => cell(arm, arm.passAny, k)),
      ...ks.slice(1).map((k) => cell(arm, arm.passAll, k)),
    ]),
  ];
};

/** What the arms took: tokens, money, times. */
export const effortRows = ({ arms }: Pick<TrialsScore, 'arms'>): string[][] => {
  const priced = arms.some((one) => one.cost !== null);
  return [
    [
      'arm',
      'tokens',
      'per trial',
      'per solved',
      ...(priced ? ['cost', 'per solved'] : []),
      'wall p50',
      'p95',
      'CPU p50',
      'p95',
      'verifier p50',
    ],
    ...arms.map(({ name, tokens, cost, agentWall_s, agentCpu_s, verifierWall_s }) => {
      const time = (seconds: number | undefined): string =>
        seconds === undefined ? '' : secondsText(seconds);
      const money = (amount: number | null | undefined): string =>
        cost === null || amount === null || amount === undefined ? '' : costText(amount, cost.currency);
      const count = (many: number | null | undefined): string =>
        many === null || many === undefined ? '' : tokensText(many);
      return [
        name,
        count(tokens?.totalTokens),
        count(tokens?.perTrial),
        count(tokens?.perSolved),
        ...(priced ? [money(cost?.total), money(cost?.perSolved)] : []),
        time(agentWall_s?.median),
        time(agentWall_s?.p95),
        time(agentCpu_s?.median),
        time(agentCpu_s?.p95),
        time(verifierWall_s?.median),
      ];
    }),
  ];
};

const points = ({ value }: Difference['rate']): string =>
  value === null ? '' : percent(value).replace(/^(?!-)/, '+');

/** One line per two arms: the difference of their rates in points, and the exact tests. */
export const differenceRows = ({ differences }: Pick<TrialsScore, 'differences'>): string[][] => [
  ['', 'against', 'tasks', 'points', '95 % (tasks)', 'better in', 'worse in', 'p by task', 'McNemar', 'p'],
  ...differences.map((one) => [
    one.first,
    one.second,
    String(one.tasks),
    points(one.rate),
    intervalText(one.rate),
    String(one.byTask.firstBetter),
    String(one.byTask.secondBetter),
    pShown(one.byTask.holm),
    `${one.mcnemar.onlyFirst} : ${one.mcnemar.onlySecond}`,
    pShown(one.mcnemar.p),
  ]),
];

/** The tries of one task by one arm. An arm may be called as every object's property is. */
export const attemptsOf = (
  arms: TrialsScore['tasks'][number]['arms'],
  name: string,
): readonly ScoredAttempt[] => (Object.hasOwn(arms, name) ? arms[name]! : []);

/** The same in a cell: a sign for each, or their counts. */
const gridCell = (attempts: readonly ScoredAttempt[]): string => {
  if (attempts.length <= MOST_SIGNS) return attempts.map((one) => SIGNS[one.state]).join('');
  const count = (state: TrialState): number => attempts.filter((one) => one.state === state).length;
  const none = count('no verdict');
  return `${count('solved')}/${attempts.length - none}${none > 0 ? ` ${none}?` : ''}`;
};

/** One line per task. */
export const gridRows = ({ arms, tasks }: Pick<TrialsScore, 'arms' | 'tasks'>): string[][] => [
  ['task', ...arms.map((one) => one.name)],
  ...tasks.map((one) => [one.task, ...arms.map(({ name }) => gridCell(attemptsOf(one.arms, name)))]),
];

/** Why trials have no verdict: arm, how many, why. */
export const reasonRows = ({ arms }: Pick<TrialsScore, 'arms'>): string[][] =>
  arms.flatMap(({ name, withoutVerdict }) =>
    withoutVerdict.map((one) => [name, String(one.trials), one.why]),
  );

/** What came out, in one line. */
export const scoreWords = ({ trials, solved, failed, noVerdict, tasks, arms }: TrialsScore): string =>
  `${trials} ${trials === 1 ? 'trial' : 'trials'} of ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} by ` +
  `${arms.length} ${arms.length === 1 ? 'arm' : 'arms'}: ${solved} solved, ${failed} failed, ${noVerdict} without verdict`;

/** What weakens a score: each doubt a name, a number, its threshold and a sentence. Pure. */
import type { Prices } from '../../../schemas/prices.ts';
import type { ScoredArm, TrialsDoubt } from '../../../schemas/trials-score.ts';
import { costOf } from './arm-score.ts';
import { type ArmTrials, type Counted, nameOf, stateOf } from './counted.ts';
import { wantOfflineText } from '../want-offline.ts';
import { FEWEST_TASKS } from './over-tasks.ts';

/** Above this part without a verdict, who is missing may matter more than who is there. */
const MOST_WITHOUT = 0.05;
/** The same for the difference between arms. */
const MOST_UNEVEN = 0.05;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const withoutShare = ({ noVerdict, trials }: ScoredArm): number => (trials === 0 ? 0 : noVerdict / trials);

const fewTasks = (tasks: number): TrialsDoubt[] =>
  tasks >= FEWEST_TASKS
    ? []
    : [
        {
          name: 'few-tasks',
          value: tasks,
          threshold: FEWEST_TASKS,
          sentence: `${tasks} ${tasks === 1 ? 'task says' : 'tasks say'} nothing of others: there is no interval over tasks below ${FEWEST_TASKS}`,
        },
      ];

const missing = (trials: readonly Counted[]): TrialsDoubt[] => {
  const open = trials.filter((one) => one.line === undefined);
  if (open.length === 0) return [];
  const sentence = `${open.length} of ${trials.length} trials have no result line, the first ${nameOf(open[0]!)}; 'k8sbench trials collect' fetches what is there`;
  return [{ name: 'incomplete', value: open.length, threshold: 0, sentence }];
};

const withoutVerdict = (arms: readonly ScoredArm[]): TrialsDoubt[] => {
  const many = arms
    .filter((one) => withoutShare(one) > MOST_WITHOUT)
    .map((one) => ({
      name: 'without-verdict',
      value: withoutShare(one),
      threshold: MOST_WITHOUT,
      sentence: `${one.noVerdict} of ${one.trials} trials of '${one.name}' have no verdict: over all of them its rate lies between ${percent(one.rateIfNoneSolved ?? 0)} and ${percent(one.rateIfAllSolved ?? 1)}`,
    }));
  const shares = arms.map(withoutShare);
  const gap = Math.max(0, ...shares) - Math.min(1, ...shares);
  if (arms.length < 2 || !(gap > MOST_UNEVEN)) return many;
  const worst = arms[shares.indexOf(Math.max(...shares))]!;
  const sentence = `'${worst.name}' has more trials without verdict than another arm, by ${percent(gap)} of its trials: a comparison of the others favours one side`;
  return [...many, { name: 'uneven-verdicts', value: gap, threshold: MOST_UNEVEN, sentence }];
};

const mixedImages = (trials: readonly Counted[]): TrialsDoubt[] => {
  const images = Map.groupBy(
    trials.filter((one) => one.line?.image !== undefined),
    (one) => one.task,
  );
  const mixed = [...images].filter(([, all]) => new Set(all.map((one) => one.line!.image)).size > 1);
  if (mixed.length === 0) return [];
  const sentence = `${mixed.length} ${mixed.length === 1 ? 'task ran' : 'tasks ran'} on several images, the first '${mixed[0]![0]}': its trials are not alike`;
  return [{ name: 'mixed-images', value: mixed.length, threshold: 0, sentence }];
};

const usages = ({ tasks }: ArmTrials) =>
  [...tasks.values()].flat().flatMap((one) => (one.line?.usage ? [one.line.usage] : []));

/** Cached tokens that are counted as input too would be paid twice. */
const sums = (arms: readonly ArmTrials[]): TrialsDoubt[] =>
  arms.flatMap((arm) => {
    const wrong = usages(arm).filter(
      (one) => one.input + one.output + one.cacheRead + one.cacheWrite !== one.totalTokens,
    ).length;
    if (wrong === 0) return [];
    const sentence = `in ${wrong} trials of '${arm.name}' the kinds of tokens don't add up to its total: are cached tokens counted twice?`;
    return [{ name: 'token-sums', value: wrong, threshold: 0, sentence }];
  });

/** Who tells tokens at its end alone tells none of the trials that took longest. */
const silentOfTokens = (arms: readonly ArmTrials[]): TrialsDoubt[] =>
  arms.flatMap(({ name, tasks }) => {
    const lines = [...tasks.values()].flat().flatMap((one) => (one.line ? [one.line] : []));
    const ended = lines.filter((one) => stateOf(one) !== 'no verdict');
    const silent = ended.filter((one) => !one.usage);
    if (silent.length === 0 || !lines.some((one) => one.usage)) return [];
    const solved = silent.filter((one) => stateOf(one) === 'solved').length;
    const sentence = `${silent.length} of ${ended.length} trials of '${name}' with a verdict told no tokens, ${solved} of them solved: its tokens and their cost, also those for each solved one, are of the other trials alone`;
    return [{ name: 'tokens-missing', value: silent.length, threshold: 0, sentence }];
  });

const unpriced = (arms: readonly ArmTrials[], prices: Prices | undefined): TrialsDoubt[] => {
  if (prices === undefined) return [];
  return arms.flatMap((arm) => {
    const price = prices.models[arm.model]?.perMillionTokens;
    const without = usages(arm).filter((one) => costOf(one, price) === undefined).length;
    if (without === 0) return [];
    const why = price === undefined ? `has no model '${arm.model}'` : 'lacks a kind of token';
    const sentence = `${without} trials of '${arm.name}' have no cost: the price table ${why}`;
    return [{ name: 'unpriced', value: without, threshold: 0, sentence }];
  });
};

/** Tasks that are other tasks with a network. */
export const online = (tasks: readonly string[]): TrialsDoubt[] =>
  tasks.length === 0
    ? []
    : [{ name: 'online', value: tasks.length, threshold: 0, sentence: wantOfflineText(tasks) }];

export const doubtsOf = (
  trials: readonly Counted[],
  arms: readonly ArmTrials[],
  scored: readonly ScoredArm[],
  tasks: number,
  prices: Prices | undefined,
): TrialsDoubt[] => [
  ...missing(trials),
  ...withoutVerdict(scored),
  ...fewTasks(tasks),
  ...mixedImages(trials),
  ...sums(arms),
  ...silentOfTokens(arms),
  ...unpriced(arms, prices),
];

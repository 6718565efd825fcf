/** `tracker bisect`: the commits worth measuring next, to pin down the changes of a history. */
import type { BisectStep } from '../../schemas/changes.ts';
import { type Advice, bisectAdvice } from '../../shared/evidence/bisect.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { stepText } from '../../shared/history-words.ts';
import { pShown } from '../../shared/p-value.ts';
import { sizeHead } from '../../shared/sizes.ts';
import { table } from '../../shared/terminal.ts';
import { type Commits, type Ordered, wholeCommit } from './commit-order.ts';
import type { Change } from '../../shared/evidence/changes.ts';
import { changesIn, readSeries, shortCommit } from './read-series.ts';
import type { TrackerVerb } from './call.ts';

/** Runs that were made to pin a change down count beside those of the history. */
const PURPOSES = ['main', 'bisect'];

/** Commits from the good one to the bad one, oldest first, as far as one leads to the other. */
const between = ({ git }: Commits, good: string, bad: string): string[] => [
  good,
  ...(git.try('rev-list', '--topo-order', '--reverse', '--ancestry-path', `${good}..${bad}`) ?? '')
    .split('\n')
    .filter((one) => one !== ''),
];

/** The advice about one change: only the commits that lead from one side of it to the other are looked at. */
const adviceOf = ({ points }: Ordered, change: Change, commits: Commits): Advice => {
  const runs = points.map(({ commit, value }) => ({
    commit: wholeCommit(commits, commit) ?? commit,
    value,
  }));
  const [good, bad] = [runs[change.at - 1]!.commit, runs[change.at]!.commit];
  return bisectAdvice(between(commits, good, bad), runs, [change])[0]!;
};

const lineOf = ({ rule, turns, counted, metric, nodeType }: Ordered, advice: Advice): BisectStep => ({
  format: 'bisect/1',
  rule,
  turns,
  ...(counted === undefined ? {} : { counted }),
  metric,
  nodeType,
  good: advice.good,
  bad: advice.bad,
  step: Math.exp(advice.step),
  p: advice.p,
  next: advice.next,
  between: advice.between,
  runs: advice.runs,
});

/** A tree with changes is no commit: nothing could be measured between it and another. */
const withoutDirty = ({ points, ...series }: Ordered): Ordered => ({
  ...series,
  points: points.filter(({ commit }) => !commit.endsWith('-dirty')),
});

const headOf = (lines: readonly BisectStep[]): string[] => [
  'rule',
  sizeHead(lines),
  ...['metric', 'step', 'good', 'bad', 'between', 'measure next', 'runs', 'p'],
];
const rowOf = (one: BisectStep): string[] => [
  one.rule,
  String(one.turns),
  one.metric,
  stepText(one.step),
  shortCommit(one.good),
  shortCommit(one.bad),
  String(one.between),
  one.next === null ? 'nothing: it is the bad one' : shortCommit(one.next),
  one.next === null ? '' : String(one.runs),
  pShown(one.p),
];

export const bisect: TrackerVerb = {
  about: 'names the commits worth measuring next; in the repository of what is measured',
  flags: ['run', 'track', 'rule', 'turns', 'metric', 'json'],
  async run(call) {
    const { flags, world, talk } = call;
    const { track, series, commits } = await readSeries(call, PURPOSES, '');
    if (series.length === 0) {
      talk.info(
        `'${track}' has no run of purpose ${PURPOSES.map((one) => `'${one}'`).join(' or ')} with exact values`,
      );
      return EXIT.done;
    }
    if (!commits)
      throw usage(
        "'tracker bisect' names commits of a repository, and here is none; run it in the one that is measured",
      );
    const clean = series.filter((one) => one.order === 'commit').map(withoutDirty);
    const lines = changesIn(clean).flatMap(([one, found]) =>
      found.map((change) => lineOf(one, adviceOf(one, change, commits))),
    );
    if (flags.json) await world.stdout.write(lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    else if (lines.length > 0)
      await world.stdout.write(table([headOf(lines), ...lines.map(rowOf)], [1, 3, 6, 8, 9]));
    else if (clean.length === 0) talk.info('no history whose commits are in this repository');
    else
      talk.info(
        `no change in ${clean.length} ${clean.length === 1 ? 'history' : 'histories'} whose commits are in this repository`,
      );
    if (lines.some((one) => one.next !== null))
      talk.info("measure it with '--purpose bisect', append it, and ask again");
    return EXIT.done;
  },
};

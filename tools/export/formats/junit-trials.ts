/** JUnit XML of trials: a suite for each arm, a test for each trial; what has no verdict is skipped with the reason. Pure. */
import type { ScoredArm, ScoredAttempt, TrialsScore } from '../../../schemas/trials-score.ts';
import { attemptsOf, intervalText } from '../../../shared/trials-tables.ts';
import { xml } from './xml.ts';

const outcome = ({ state, reward, why = 'no verdict' }: ScoredAttempt): string => {
  if (state === 'solved') return '';
  if (state === 'no verdict') return `<skipped message="${xml(why)}"/>`;
  return `<failure message="not solved: reward ${reward}" type="k8sbench"/>`;
};

const seconds = (all: readonly ScoredAttempt[]): string =>
  all.reduce((sum, one) => sum + (one.agentWall_s ?? 0), 0).toFixed(3);

/** Counts of a suite, or of all, as attributes. */
const counts = (all: readonly ScoredAttempt[]): string => {
  const count = (state: string): number => all.filter((one) => one.state === state).length;
  return `tests="${all.length}" failures="${count('failed')}" errors="0" skipped="${count('no verdict')}" time="${seconds(all)}"`;
};

const triesOf = ({ tasks }: TrialsScore, { name }: ScoredArm): { task: string; one: ScoredAttempt }[] =>
  tasks.flatMap(({ task, arms }) => attemptsOf(arms, name).map((one) => ({ task, one })));

const suite = (score: TrialsScore, arm: ScoredArm): string => {
  const name = `k8sbench.trials.${arm.name}`;
  const attempts = triesOf(score, arm);
  const rate =
    arm.rate.value === null ? '' : `${(100 * arm.rate.value).toFixed(1)} % (${intervalText(arm.rate)})`;
  const properties = [
    ['model', arm.model],
    ['rate', rate],
    ...score.differences
      .filter((one) => one.first === arm.name || one.second === arm.name)
      .map((one) => [`difference.${one.first}.${one.second}`, one.sentence] as const),
    ...score.doubts.map((one) => [`doubt.${one.name}`, one.sentence] as const),
  ]
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `      <property name="${xml(key!)}" value="${xml(value!)}"/>\n`);
  const cases = attempts.map(
    ({ task, one }) =>
      `    <testcase classname="${xml(name)}" name="${xml(`${task}, attempt ${one.attempt}`)}" time="${seconds([one])}">${outcome(one)}</testcase>\n`,
  );
  return (
    `  <testsuite name="${xml(name)}" ${counts(attempts.map((one) => one.one))}>\n` +
    `    <properties>\n${properties.join('')}    </properties>\n${cases.join('')}  </testsuite>\n`
  );
};

export const junitOfTrials = (score: TrialsScore): string => {
  const all = score.arms.flatMap((arm) => triesOf(score, arm).map((one) => one.one));
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="k8sbench" ${counts(all)}>\n` +
    `${score.arms.map((arm) => suite(score, arm)).join('')}</testsuites>\n`
  );
};

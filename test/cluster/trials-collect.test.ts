/** Two hundred real Jobs submitted, collected and scored, with the programs killed and called again on the way. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trialLine } from '../../schemas/trial-line.ts';
import { trialsScore } from '../../schemas/trials-score.ts';
import { problemsOf } from '../../shared/read.ts';
import { until } from './processes.ts';
import {
  type Fate,
  jobsOf,
  linesIn,
  makeTrialBed,
  start,
  type TrialBed,
  trialRun,
  trialsTool,
} from './trial-runs.ts';

let bed: TrialBed;
beforeAll(async () => {
  bed = await makeTrialBed('trials');
}, 120_000);
afterAll(() => bed?.remove());

const TASKS = 20;
const ATTEMPTS = 5;
const AT_ONCE = 16;

/** Whether a try is solved: some tasks always, some never, some by one arm alone. */
const reward = (task: number, arm: string, attempt: number): number =>
  task % 4 === 0 || (task % 4 === 1 && arm === 'pi') || (task % 4 === 2 && attempt % 2 === 0) ? 1 : 0;

const fates = (): Fate[] => {
  const all: Fate[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
    for (let task = 0; task < TASKS; task++)
      for (const arm of ['pi', 'codex'])
        all.push({ task: `task-${task}`, arm, attempt, reward: reward(task, arm, attempt) });
  return all;
};

const isOver = (job: any): boolean =>
  (job.status?.conditions ?? []).some(
    (one: any) => ['Complete', 'Failed'].includes(one.type) && one.status === 'True',
  );

test('200 Jobs: each result once, never more than so many at once, killed and called again', async () => {
  const { run, trials } = trialRun(bed, fates());
  expect(trials.trials).toHaveLength(200);
  let most = 0;
  const watching = new AbortController();
  const watched = (async () => {
    while (!watching.signal.aborted) {
      most = Math.max(most, (await jobsOf(bed, run)).filter((one) => !isOver(one)).length);
      await Bun.sleep(300);
    }
  })();
  const words = ['apply', '--run', run.name, '--at-once', String(AT_ONCE)];
  const first = start(bed, words);
  const collecting = start(bed, ['collect', '--run', run.name]);
  await until('some results', () => linesIn(run).length > 30, 120_000);
  first.kill('SIGKILL');
  await first.ended;
  // A second submitter while the first is away; a collector that is killed in the middle.
  const second = start(bed, words);
  collecting.kill('SIGKILL');
  await collecting.ended;
  const collectedFrom = linesIn(run).length;
  const again = await trialsTool(bed, 'collect', run);
  const applied = await second.ended;
  watching.abort();
  await watched;
  expect(applied).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
  expect(again).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
  // On no terminal: how far it is, again and again, and the sum at the end.
  const told = [...again.stderr.matchAll(/(\d+) of 200 trials collected/g)].map((one) => Number(one[1]));
  expect(told.length).toBeGreaterThan(1);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect([told[0]! >= collectedFrom, told.at(-1)]).toEqual([true, 200]);
  expect(most).toBeLessThanOrEqual(AT_ONCE);
  expect(most).toBeGreaterThan(AT_ONCE / 2);

  const lines = linesIn(run);
  expect(lines.flatMap((value) => problemsOf(trialLine, { value }, 'line'))).toEqual([]);
  const seen = lines.map((one) => `${one.task} ${one.arm} ${one.attempt}`);
  expect([lines.length, new Set(seen).size]).toEqual([200, 200]);
  for (const one of lines)
    expect([one.task, one.reward]).toEqual([
      one.task,
      reward(Number(one.task.split('-')[1]), one.arm, one.attempt),
    ]);

  // Done is done: nothing is submitted or added.
  const before = readFileSync(run.file('trials.jsonl'));
  const uids = (await jobsOf(bed, run)).map((one) => one.metadata.uid).toSorted();
  expect((await trialsTool(bed, 'apply', run)).stderr).toContain('0 Jobs submitted, 200 were there already');
  expect((await trialsTool(bed, 'apply', run, '--again')).exit).toBe(0);
  expect((await trialsTool(bed, 'collect', run)).exit).toBe(0);
  expect(readFileSync(run.file('trials.jsonl'))).toEqual(before);
  expect((await jobsOf(bed, run)).map((one) => one.metadata.uid).toSorted()).toEqual(uids);

  expect((await trialsTool(bed, 'score', run)).exit).toBe(0);
  const score = JSON.parse(readFileSync(join(run.path, 'trials-score.json'), 'utf8'));
  expect(problemsOf(trialsScore, { value: score }, 'score')).toEqual([]);
  expect(score).toMatchObject({ trials: 200, noVerdict: 0, doubts: [] });
  expect(score.arms.map((one: any) => [one.name, one.solved])).toEqual([
    ['pi', 60],
    ['codex', 35],
  ]);
}, 600_000);

/** Pages of trials: what stands in the text, without a browser. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrialsScore } from '../../schemas/trials-score.ts';
import { jsonText } from '../../shared/read.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-view-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const FIXTURE = join(import.meta.dir, '../../fixtures/schemas/trials-score/valid.json');

let made = 0;
const page = async (
  change: (score: TrialsScore) => void = () => undefined,
  more: Record<string, string> = {},
) => {
  const run = join(scratch, String(made++));
  mkdirSync(run);
  const score = JSON.parse(readFileSync(FIXTURE, 'utf8')) as TrialsScore;
  change(score);
  writeFileSync(join(run, 'trials-score.json'), jsonText(score));
  for (const [name, text] of Object.entries(more)) writeFileSync(join(run, name), text);
  return { run, ...(await runTool(main, ['--run', run, '--out', '-'])) };
};

test('the page says first what came out, then why it is not more', async () => {
  const { exit, stdout } = await page((score) => {
    score.doubts = [
      { name: 'few-tasks', value: 3, threshold: 5, sentence: 'three tasks say nothing of others' },
    ];
  });
  expect(exit).toBe(0);
  const body = stdout.slice(stdout.indexOf('<main'));
  const places = [
    '36 trials of 6 tasks by 2 arms',
    'tell</span>',
    'three tasks say nothing of others',
    'data-plot="rates"',
    'data-plot="tries"',
    'data-plot="differences"',
    'Every trial',
  ].map((one) => body.indexOf(one));
  expect(places.every((one) => one > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test.each([
  [0.1, 0.4, 0.01, '▲ more'],
  [-0.4, -0.1, 0.01, '▼ fewer'],
  [-0.1, 0.4, 0.01, 'can&#39;t tell'],
  [0.1, 0.4, 0.2, 'can&#39;t tell'],
  [null, null, 0.01, 'can&#39;t tell'],
])('an interval from %p to %p with p %p is said to be %s', async (low, high, holm, says) => {
  const { stdout } = await page((score) => {
    Object.assign(score.differences[0]!.rate, { low, high });
    score.differences[0]!.byTask.holm = holm;
  });
  expect(/<span class="word \w+">([^<]*)<\/span/.exec(stdout)![1]).toContain(says);
});

test('every try is a sign, with the reason beside it where there is no verdict', async () => {
  const { stdout } = await page((score) => {
    score.tasks[0]!.arms['pi']![0] = {
      attempt: 1,
      state: 'no verdict',
      reward: null,
      agentWall_s: null,
      why: 'its <node> is gone',
    };
  });
  expect(stdout).toContain('title="attempt 1: no verdict, its &lt;node&gt; is gone">?</span');
  expect(stdout.match(/class="try /g)!).toHaveLength(36);
});

test('one arm alone has no differences', async () => {
  const { exit, stdout } = await page((score) => {
    score.arms = score.arms.slice(0, 1);
    score.differences = [];
  });
  expect([exit, stdout.includes('data-plot="differences"')]).toEqual([0, false]);
});

test('hostile names are text', async () => {
  const name = '</script><img src=x onerror=alert(1)>\u001b[31m';
  const { stdout } = await page((score) => {
    score.tasks[0]!.task = name;
    score.arms[0]!.model = name;
    score.differences[0]!.sentence = name;
  });
  expect(stdout).not.toContain('<img');
  expect(stdout).not.toContain('\u001b');
});

test('a score of other lines, and a run that was not scored, are refused', async () => {
  const other = await page((score) => void (score.inputs['trials.jsonl'] = '0'.repeat(64)), {
    'trials.jsonl': '{}\n',
  });
  expect([other.exit, other.stdout]).toEqual([1, '']);
  expect(other.stderr).toContain('is of other lines than');
  const run = join(scratch, 'unscored');
  mkdirSync(run);
  writeFileSync(join(run, 'trials.json'), '{}');
  expect((await runTool(main, ['--run', run])).stderr).toContain(
    "has no trials-score.json; 'k8sbench trials score",
  );
});

test('made again only when the score changed', async () => {
  const { run } = await page();
  expect((await runTool(main, ['--run', run])).stderr).toContain('is there to look at');
  expect((await runTool(main, ['--run', run])).stderr).toContain('is made already');
});

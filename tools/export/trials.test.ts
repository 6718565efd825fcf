/** Runs of trials in other formats, and what has no place for them. */
import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'junit2json';
import type { TrialsScore } from '../../schemas/trials-score.ts';
import { jsonText } from '../../shared/read.ts';
import { runTool } from '../../test/outside.ts';
import { FORMATS } from './formats.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-export-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const FIXTURE = join(import.meta.dir, '../../fixtures/schemas/trials-score/valid.json');
const score = JSON.parse(readFileSync(FIXTURE, 'utf8')) as TrialsScore;

let places = 0;
const place = (change?: (score: TrialsScore) => void): string => {
  const run = join(scratch, String(places++));
  mkdirSync(run);
  if (!change) copyFileSync(FIXTURE, join(run, 'trials-score.json'));
  else {
    const changed = structuredClone(score);
    change(changed);
    writeFileSync(join(run, 'trials-score.json'), jsonText(changed));
  }
  return run;
};
const exported = (format: string, run: string) => runTool(main, [format, '--run', run]);

test('junit: a suite for each arm, a test for each trial, the same counts', async () => {
  const { exit, stdout } = await exported('junit', place());
  expect(exit).toBe(0);
  const found = (await parse(stdout)) as any;
  expect([found.tests, found.failures, found.skipped]).toEqual([score.trials, score.failed, score.noVerdict]);
  expect(found.testsuite.map((one: any) => [one.name, one.tests, one.failures, one.skipped])).toEqual(
    score.arms.map((one) => [`k8sbench.trials.${one.name}`, one.trials, one.failed, one.noVerdict]),
  );
  const cases = found.testsuite.flatMap((one: any) => one.testcase) as any[];
  const failed = cases.filter((one) => one.failure);
  expect(failed).toHaveLength(score.failed);
  expect(cases.every((one) => one.time > 0)).toBe(true);
});

test('junit: what has no verdict is skipped, with the reason', async () => {
  const run = place((one) => {
    one.tasks[0]!.arms['pi']![0] = {
      attempt: 1,
      state: 'no verdict',
      reward: null,
      agentWall_s: null,
      why: 'its node is gone',
    };
  });
  expect((await exported('junit', run)).stdout).toContain('<skipped message="its node is gone"/>');
});

test('markdown: the difference, the tables, the grid', async () => {
  const { exit, stdout } = await exported('markdown', place());
  expect(exit).toBe(0);
  expect(stdout).toStartWith('## k8sbench trials: 36 trials of 6 tasks by 2 arms: ');
  expect(stdout).toContain('solved +0.0 points against');
  expect(stdout).toContain('| arm | solved | verdicts | none | rate % |');
  expect(stdout).toContain('| task-0 | +-- | -+- |');
});

describe.each(['junit', 'markdown'])('%s', (format) => {
  test('hostile names are text', async () => {
    const name = '=</script>|x\n\u001b[31m@all';
    const run = place((one) => {
      one.tasks[0]!.task = name;
      one.arms[0]!.withoutVerdict = [{ why: name, trials: 1 }];
      one.doubts = [{ name: 'x', value: 1, threshold: 0, sentence: name }];
      one.differences[0]!.sentence = name;
    });
    const { exit, stdout } = await exported(format, run);
    expect(exit).toBe(0);
    for (const harm of ['\u001b', '</script>', '\n@all']) expect(stdout).not.toContain(harm);
  });

  test('a score of other lines is refused', async () => {
    const run = place((one) => void (one.inputs['trials.jsonl'] = '0'.repeat(64)));
    writeFileSync(join(run, 'trials.jsonl'), '{}\n');
    const { exit, stdout, stderr } = await exported(format, run);
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain("is of other lines than 'trials.jsonl' holds now");
  });

  test('a run that was not scored says which step is missing', async () => {
    const run = join(scratch, `unscored-${format}`);
    mkdirSync(run);
    writeFileSync(join(run, 'trials.json'), '{}');
    const { exit, stderr } = await exported(format, run);
    expect(exit).toBe(1);
    expect(stderr).toContain("has no trials-score.json; 'k8sbench trials score --run");
  });
});

test.each(Object.keys(FORMATS).filter((one) => !FORMATS[one]!.trials))(
  '%s has no place for trials',
  async (format) => {
    const { exit, stdout, stderr } = await exported(format, place());
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`'${format}' has no place for them; 'junit' and 'markdown' have`);
  },
);

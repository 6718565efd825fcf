/**
 * A whole run: three small tasks, two real agents, two tries each, a model that says what it is told to. Every step is a command of the
 * README's chapter, whose outputs are compared; K8SBENCH_WRITE=1 writes them into it instead.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { comparable, type Example, examplesOf, TASKS_CHAPTER, withOutputs } from '../readme/examples.ts';
import { makeRunBed, NAMESPACE, type RunBed } from './run-bed.ts';

const top = resolve(import.meta.dir, '../..');
const README = join(top, 'README.md');
const SCRIPT = readFileSync(join(top, 'fixtures/trials/model-script.json'), 'utf8');
const isOurs = ({ chapter }: Example): boolean => chapter === TASKS_CHAPTER;
const examples = examplesOf(readFileSync(README, 'utf8')).filter(isOurs);

let bed: RunBed;
beforeAll(() => {
  bed = makeRunBed(SCRIPT);
}, 300_000);
// Thousands of files on a disk that others use.
afterAll(() => bed?.remove(), 300_000);

const told = (): string =>
  bed.shell(`kubectl -n ${NAMESPACE} get pods -o wide; kubectl -n ${NAMESPACE} get events | tail -n 20`)
    .stdout;

const outputs: string[][][] = [];

describe("the README's chapter", () => {
  test('has a whole run', () => expect(examples).toHaveLength(4));

  test.each(examples.map((one) => [one.commands[0]!.command.slice(0, 60), one] as const))(
    '%s',
    (_, { commands }) => {
      const printed = commands.map(({ command }) => {
        const { exit, stdout } = bed.shell(`exec 2>&1\n${command}`);
        expect(exit === 0 ? '' : `${command}\n${stdout}\n${told()}`).toBe('');
        return stdout;
      });
      outputs.push(printed.map((one) => (one === '' ? [] : one.replace(/\n$/, '').split('\n'))));
      if (process.env['K8SBENCH_WRITE']) return;
      for (const [at, now] of printed.entries()) {
        const [found, wanted] = comparable(now, commands[at]!.printed.join('\n'));
        expect(found).toBe(wanted);
      }
    },
    900_000,
  );

  test('is written', () => {
    expect(outputs).toHaveLength(examples.length);
    // As it is now: somebody may have written another chapter meanwhile.
    if (process.env['K8SBENCH_WRITE'])
      writeFileSync(README, withOutputs(readFileSync(README, 'utf8'), outputs, isOurs));
  });
});

test('what is locked and bundled: tasks with an image and no GPU, never a solution', () => {
  const lock = JSON.parse(readFileSync(join(bed.directory, 'tasks.lock'), 'utf8'));
  expect(lock.tasks.map((one: any) => one.name)).toEqual(['endless', 'impossible', 'word-report']);
  expect(lock.leftOut.map((one: any) => one.name)).toEqual(['no-image', 'train-model']);
  expect(bed.shell('find trial-bundle -name solve.sh').stdout).toBe('');
});

test('each trial has the result that is right', () => {
  const lines = readFileSync(join(bed.directory, 'run/trials.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one) as TrialLine);
  expect(lines).toHaveLength(12);
  const found = lines.map((one) => `${one.task} ${one.arm} ${one.attempt}: ${one.error ?? one.reward}`);
  const wanted = ['pi', 'codex'].flatMap((arm) =>
    [1, 2].flatMap((attempt) => [
      `word-report ${arm} ${attempt}: 1`,
      `impossible ${arm} ${attempt}: 0`,
      `endless ${arm} ${attempt}: 0`,
    ]),
  );
  expect(found.toSorted()).toEqual(wanted.toSorted());
  for (const one of lines) {
    expect([one.task, one.agentTimedOut ?? false]).toEqual([one.task, one.task === 'endless']);
    if (one.task === 'word-report')
      expect([one.arm, one.usage?.input, one.usage?.output, one.agentExit]).toEqual([one.arm, 3500, 105, 0]);
    expect(one.agentWallMs!).toBeGreaterThan(0);
    expect(one.node).toMatch(/^node-[12]$/);
  }
  const score = JSON.parse(readFileSync(join(bed.directory, 'run/trials-score.json'), 'utf8'));
  expect(score).toMatchObject({ trials: 12, solved: 4, failed: 8, noVerdict: 0 });
  expect(score.differences[0]).toMatchObject({ tasks: 3, rate: { value: 0, low: null } });
});

test('manifests are the same each time, pass a server-side dry run, and hold no secret', () => {
  const words =
    '--model scripted --staged "$(sed -n \'s/^# staged //p\' stage.yaml)" --trial-arms pi,codex --attempts 2';
  const print = (): string => bed.shell(`k8sbench trials ${words}`).stdout;
  const yaml = print();
  expect(print()).toBe(yaml);
  expect(yaml).toBe(readFileSync(join(bed.directory, 'run/trials.yaml'), 'utf8'));
  bed.cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], yaml);
  expect(yaml).not.toMatch(/secretKeyRef|password|bearer|authorization/i);
}, 120_000);

test('a page, and what others read', () => {
  bed.done('view', '--run', 'run');
  expect(bed.done('export', 'junit', '--run', 'run')).toContain('tests="12" failures="8"');
  expect(bed.done('export', 'markdown', '--run', 'run')).toContain('| word-report | ++ | ++ |');
});

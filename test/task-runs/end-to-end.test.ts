/** A whole run: three small tasks, two real agents, two tries each, a model that says what it is told to; every step by our own programs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { makeRunBed, MODEL, NAMESPACE, type RunBed } from './run-bed.ts';

const top = resolve(import.meta.dir, '../..');
const SCRIPT = readFileSync(join(top, 'fixtures/trials/model-script.json'), 'utf8');

let bed: RunBed;
beforeAll(() => {
  bed = makeRunBed(SCRIPT);
}, 300_000);
afterAll(() => bed?.remove());

const state: { staged?: string } = {};

test('the tasks are locked, and the bundle holds them and the agents', () => {
  bed.done('trials', 'lock', '--src', 'dataset/tasks', '--dataset', 'small', '--out', 'tasks.lock');
  const lock = JSON.parse(readFileSync(join(bed.directory, 'tasks.lock'), 'utf8'));
  expect(lock.tasks.map((one: any) => one.name)).toEqual(['endless', 'impossible', 'word-report']);
  expect(lock.leftOut.map((one: any) => one.name)).toEqual(['no-image', 'train-model']);
  bed.done(
    'bundle',
    'build',
    '--recipe',
    'recipe/bundle.yaml',
    '--tasks',
    'dataset/tasks',
    '--out',
    'bundle',
  );
  expect(bed.shell('find bundle -name solve.sh').stdout).toBe('');
}, 300_000);

test('the bundle is staged by its Job and the commands that stand behind it', () => {
  const { sha256, manifest, commands } = JSON.parse(bed.done('stage', '--bundle', 'bundle', '--json'));
  state.staged = sha256;
  bed.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  const ended = bed.shell(commands.join('\n'));
  expect(ended.exit === 0 ? '' : ended.stderr).toBe('');
}, 300_000);

test('the model is fetched, started offline and answers', () => {
  const yaml = bed.done('model', '--model', MODEL, '--staged', state.staged!);
  bed.cluster.kubectl(['apply', '-f', '-'], yaml);
  const ended = bed.shell(
    `kubectl -n ${NAMESPACE} wait deployment/k8sbench-model-${MODEL} --for=condition=Available --timeout=180s`,
  );
  const told = `kubectl -n ${NAMESPACE} describe pods -l app.kubernetes.io/component!=trial`;
  expect(ended.exit === 0 ? '' : ended.stderr + bed.shell(told).stdout).toBe('');
}, 240_000);

describe('trials', () => {
  test('are printed the same each time, and pass a server-side dry run', () => {
    const words = [
      'trials',
      '--model',
      MODEL,
      '--staged',
      state.staged!,
      '--trial-arms',
      'pi,codex',
      '--attempts',
      '2',
    ];
    const yaml = bed.done(...words);
    expect(bed.done(...words)).toBe(yaml);
    bed.cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], yaml);
    expect(bed.done(...words, '--out', 'run')).toBe('run\n');
  }, 120_000);

  test('are submitted, collected and scored', () => {
    bed.done('trials', 'apply', '--run', 'run', '--at-once', '4');
    bed.done('trials', 'collect', '--run', 'run');
    const lines = readFileSync(join(bed.directory, 'run/trials.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one) as TrialLine);
    expect(lines).toHaveLength(12);
    const found = Object.fromEntries(
      lines.map((one) => [`${one.task} ${one.arm} ${one.attempt}`, one.error ?? one.reward]),
    );
    const wanted: Record<string, number> = {};
    for (const arm of ['pi', 'codex'])
      for (const attempt of [1, 2])
        Object.assign(wanted, {
          [`word-report ${arm} ${attempt}`]: 1,
          [`impossible ${arm} ${attempt}`]: 0,
          [`endless ${arm} ${attempt}`]: 0,
        });
    expect(found).toEqual(wanted);
    for (const one of lines) {
      expect([one.task, one.agentTimedOut ?? false]).toEqual([one.task, one.task === 'endless']);
      if (one.task === 'word-report')
        expect([one.arm, one.usage?.input, one.usage?.output, one.agentExit]).toEqual([
          one.arm,
          3500,
          105,
          0,
        ]);
      expect(one.agentWallMs!).toBeGreaterThan(0);
      expect(one.node).toMatch(/^node-[12]$/);
    }
    bed.done('trials', 'score', '--run', 'run');
    const score = JSON.parse(readFileSync(join(bed.directory, 'run/trials-score.json'), 'utf8'));
    expect(score).toMatchObject({ trials: 12, solved: 4, failed: 8, noVerdict: 0 });
    expect(score.differences[0]).toMatchObject({ tasks: 3, rate: { value: 0, low: null } });
    bed.done('view', '--run', 'run');
    expect(bed.done('export', 'junit', '--run', 'run')).toContain('tests="12" failures="8"');
  }, 600_000);
});

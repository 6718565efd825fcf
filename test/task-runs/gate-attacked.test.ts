/** The gate attacked in a real cluster: each attack is a trial of its own, printed, applied and collected by our own programs. Never a reward that was not earned. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { ATTACKS, writeAttacks } from './attacks.ts';
import { makeRunBed, MODEL, NAMESPACE, type RunBed } from './run-bed.ts';
import { stageTasks } from './shell-bundle.ts';
import { attackedImages } from './trial-images.ts';

let bed: RunBed;
const lines = new Map<string, TrialLine>();
beforeAll(() => {
  bed = makeRunBed('{}');
  const at = (path: string): string => join(bed.directory, path);
  const images = attackedImages(at('images'));
  for (const name of ['task', 'as-user'] as const)
    bed.cluster.push(images[name], `k8sbench-test/attacked-${name}`);
  bed.cluster.kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=baseline']);
  const staged = stageTasks(bed, writeAttacks);
  const words = ['--model', MODEL, '--staged', staged, '--arm-settings', 'shell.yaml', '--attempts', '1'];
  bed.done('trials', ...words, '--out', 'run');
  bed.done('trials', 'apply', '--run', 'run', '--at-once', '5');
  bed.done('trials', 'collect', '--run', 'run');
  for (const text of readFileSync(at('run/trials.jsonl'), 'utf8').trimEnd().split('\n')) {
    const line = JSON.parse(text) as TrialLine;
    lines.set(line.task, line);
  }
}, 900_000);
// Thousands of files on a disk that others use.
afterAll(() => bed?.remove(), 300_000);

describe('an agent that', () => {
  test.each(Object.entries(ATTACKS))('%s', (name, { may, says }) => {
    const line = lines.get(name);
    expect(line).toBeDefined();
    const { reward, fault, error = '' } = line!;
    const outcome = reward ?? fault;
    expect({ outcome, error, expected: may.some((one) => one === outcome) }).toMatchObject({
      expected: true,
    });
    if (reward === null && says !== undefined) expect(error).toContain(says);
  });
});

test('no trial but the honest ones has a reward', () =>
  expect(
    [...lines.values()]
      .filter((one) => (one.reward ?? 0) > 0)
      .map((one) => one.task)
      .toSorted(),
  ).toEqual(['honest', 'honest-as-user']));

test('a user without rights stays one, and an agent of root has fewer than its trial', () => {
  for (const name of ['honest', 'honest-as-user', 'reads-the-key', 'reads-the-key-as-user'])
    expect([name, lines.get(name)!.notes]).toEqual([name, undefined]);
});

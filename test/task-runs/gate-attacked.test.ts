/** The gate attacked in a real cluster: each attack is a trial of its own, printed, applied and collected by our own programs. Never a reward that was not earned. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { git } from '../bundle/source-tree.ts';
import { ATTACKS, SHELL, writeAttacks } from './attacks.ts';
import { makeRunBed, MODEL, NAMESPACE, type RunBed } from './run-bed.ts';
import { attackedImages } from './trial-images.ts';

const top = resolve(import.meta.dir, '../..');

/** Node alone, and an arm that is no program at all. */
const recipe = (): string => {
  const workloads = readFileSync(join(top, 'fixtures/bundles/workloads/bundle.yaml'), 'utf8');
  return `workloads: false\nartifacts:\n  - { kind: files, from: shell, to: arms/shell }\n${workloads.slice(workloads.indexOf('  - kind: node'))}`;
};

const repository = (
  directory: string,
  files: Record<string, string>,
  fill = (_: string): void => {},
): void => {
  mkdirSync(directory);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  fill(directory);
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'add', '-A');
  git(directory, 'commit', '-qm', 'all');
};

let bed: RunBed;
const lines = new Map<string, TrialLine>();
beforeAll(() => {
  bed = makeRunBed('{}');
  const at = (path: string): string => join(bed.directory, path);
  const images = attackedImages(at('images'));
  for (const name of ['task', 'as-user'] as const)
    bed.cluster.push(images[name], `k8sbench-test/attacked-${name}`);
  repository(at('attacks'), {}, (directory) => writeAttacks(join(directory, 'tasks')));
  repository(at('shell-recipe'), { 'bundle.yaml': recipe(), 'shell/README': 'it runs what it is told\n' });
  writeFileSync(at('shell.yaml'), SHELL);
  bed.cluster.kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=baseline']);
  bed.done('trials', 'lock', '--src', 'attacks/tasks', '--dataset', 'attacks', '--out', 'attacks.lock');
  bed.done(
    'bundle',
    'build',
    '--recipe',
    'shell-recipe/bundle.yaml',
    '--tasks',
    'attacks/tasks',
    '--tasks-lock',
    'attacks.lock',
    '--out',
    'attacks-bundle',
  );
  const { sha256, manifest, commands } = JSON.parse(
    bed.done('stage', '--bundle', 'attacks-bundle', '--json'),
  );
  bed.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  const staged = bed.shell(commands.join('\n'));
  if (staged.exit !== 0)
    throw new Error(staged.stderr + bed.shell(`kubectl -n ${NAMESPACE} describe pods`).stdout);
  bed.done(
    'trials',
    '--model',
    MODEL,
    '--staged',
    sha256,
    '--tasks-lock',
    'attacks.lock',
    '--arm-settings',
    'shell.yaml',
    '--attempts',
    '1',
    '--out',
    'run',
  );
  bed.done('trials', 'apply', '--run', 'run', '--at-once', '5');
  bed.done('trials', 'collect', '--run', 'run');
  for (const text of readFileSync(at('run/trials.jsonl'), 'utf8').trimEnd().split('\n')) {
    const line = JSON.parse(text) as TrialLine;
    lines.set(line.task, line);
  }
}, 900_000);
afterAll(() => bed?.remove());

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

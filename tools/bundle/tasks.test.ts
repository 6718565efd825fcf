/** Trial bundles: what of a locked task is carried, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TasksLock } from '../../schemas/tasks-lock.ts';
import { listDigest, treeOf } from '../../shared/tree-digest.ts';
import { git, write } from '../../test/bundle/source-tree.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const FIXTURE = resolve(import.meta.dir, '../../fixtures/trials/tasks');
const NAMES = ['endless', 'impossible', 'word-report'];

let base: string;
let tree: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-tasks-bundle-'));
  tree = join(base, 'tree');
  mkdirSync(tree);
  git(tree, 'init', '-q', '-b', 'main');
  write(tree, {
    'bundle.yaml': 'workloads: false\nartifacts:\n  - { kind: files, from: agent, to: arms/shell }\n',
    'agent/run.sh': '#!/bin/sh\n',
  });
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'all');
});
afterAll(() => rmSync(base, { recursive: true }), 60_000);

let made = 0;
/** A dataset and its lock; `change` comes after it was locked. */
const dataset = (change: (tasks: string) => void = () => {}): string[] => {
  const tasks = join(base, `tasks-${++made}`);
  cpSync(FIXTURE, tasks, { recursive: true });
  const lockOf = (name: string): TasksLock['tasks'][number] => {
    const all = treeOf(join(tasks, name)).filter((one) => !one.path.startsWith('solution/'));
    const tests = all.filter((one) => one.path.startsWith('tests/'));
    return {
      name,
      image: `registry.example/x@sha256:${'1'.repeat(64)}`,
      tag: 'registry.example/x:1',
      platforms: ['amd64'],
      user: '',
      workdir: '/app',
      agent_timeout_s: 1,
      verifier_timeout_s: 1,
      internet: false,
      files: Object.fromEntries(
        all.map(({ path, sha256, executable }) => [
          path,
          { sha256, ...(executable ? { x: true as const } : {}) },
        ]),
      ),
      testsSha256: listDigest(tests.map((one) => ({ ...one, path: one.path.slice(6) }))),
      sha256: listDigest(all),
    };
  };
  const lock: TasksLock = {
    format: 'tasks-lock/1',
    dataset: { name: 'small', commit: 'c'.repeat(40), published: '2026-01-02T00:00:00Z' },
    tasks: NAMES.map(lockOf),
    leftOut: [],
    counts: { tasks: 3, leftOut: 0 },
  };
  writeFileSync(`${tasks}.lock`, JSON.stringify(lock));
  change(tasks);
  return ['--tasks', tasks, '--tasks-lock', `${tasks}.lock`];
};
const build = (out: string, ...args: string[]) =>
  runTool(main, ['build', '--recipe', 'bundle.yaml', '--arch', 'amd64', '--out', join(base, out), ...args], {
    cwd: tree,
    env: { ...process.env, XDG_CACHE_HOME: join(base, 'cache') },
  });
const has = (out: string, path: string): boolean => existsSync(join(base, out, path));

describe('a trial bundle', () => {
  test('carries instructions and tests, never a solution, and the program of the pods', async () => {
    const { exit, stderr } = await build('one', ...dataset());
    expect(exit === 0 ? '' : stderr).toBe('');
    for (const name of NAMES)
      expect(
        ['instruction.md', 'tests/test.sh', 'task.toml', 'environment/Dockerfile', 'solution/solve.sh'].map(
          (path) => has('one', `tasks/${name}/${path}`),
        ),
      ).toEqual([true, true, false, false, false]);
    expect(has('one', 'tasks/word-report/tests/texts.txt')).toBe(true);
    expect(has('one', 'tasks/no-image')).toBe(false);
    expect(readFileSync(join(base, 'one/lib/trials.mjs'), 'utf8')).toContain('await-model');
    expect(JSON.parse(readFileSync(join(base, 'one/share/tasks.lock'), 'utf8')).dataset.name).toBe('small');
    const facts = JSON.parse(readFileSync(join(base, 'one/bundle.json'), 'utf8'));
    expect(facts.artifacts.find((one: any) => one.kind === 'tasks')).toMatchObject({
      name: 'tasks of small',
      version: 'c'.repeat(40),
    });
  }, 60_000);

  test('is the same again, and nothing is done when nothing changed', async () => {
    const words = dataset();
    const first = await build('two', ...words);
    expect((await build('two', ...words)).stderr).toContain('is built already');
    const other = await build('three', ...words);
    expect(other.stdout.split(' ')[0]).toBe(first.stdout.split(' ')[0]!);
  }, 60_000);
});

describe('is refused:', () => {
  test.each<[string, (tasks: string) => void, string]>([
    [
      'a changed test',
      (tasks) => writeFileSync(join(tasks, 'endless/tests/test.sh'), 'x'),
      "task 'endless': 'tests/test.sh' has another content",
    ],
    [
      'a changed Dockerfile',
      (tasks) => writeFileSync(join(tasks, 'endless/environment/Dockerfile'), 'x'),
      "'environment/Dockerfile' has another content",
    ],
    [
      'another mode',
      (tasks) => chmodSync(join(tasks, 'endless/tests/test.sh'), 0o644),
      "'tests/test.sh' has another mode",
    ],
    [
      'a file too many',
      (tasks) => writeFileSync(join(tasks, 'endless/tests/more'), 'x'),
      "'tests/more' is not locked",
    ],
    [
      'a missing file',
      (tasks) => rmSync(join(tasks, 'endless/instruction.md')),
      "'instruction.md' is locked and not there",
    ],
    ['a missing task', (tasks) => rmSync(join(tasks, 'endless'), { recursive: true }), "task 'endless': "],
  ])('%s', async (_, change, says) => {
    const { exit, stdout, stderr } = await build(`refused-${made}`, ...dataset(change));
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toContain(`check out commit ${'c'.repeat(40)}, or lock again`);
  });

  test("another solution is nobody's business", async () => {
    const words = dataset((tasks) => writeFileSync(join(tasks, 'word-report/solution/solve.sh'), 'x'));
    expect((await build('solved', ...words)).exit).toBe(0);
  }, 60_000);

  test('a lock without its tasks', async () =>
    expect(await build('x', '--tasks-lock', 'a')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("'--tasks-lock' needs --tasks"),
    }));
});

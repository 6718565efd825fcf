import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import type { World } from '../../shared/world.ts';
import { commitProblems, localCommit } from './commit.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-commit-'));
const [repository, bundle, bare] = ['repository', 'bundle', 'bare'].map((name) => join(base, name)) as [
  string,
  string,
  string,
];
const env = { PATH: process.env['PATH'], HOME: base };
const git = (...args: string[]): string => {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return Bun.spawnSync(['git', ...author, ...args], { cwd: repository, env })
    .stdout.toString()
    .trim();
};
let head = '';
beforeAll(() => {
  for (const path of [repository, bundle, bare]) mkdirSync(path);
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'one');
  head = git('rev-parse', 'HEAD');
});
afterAll(() => rmSync(base, { recursive: true }));

const SHA = '0123456789abcdef0123456789abcdef01234567';
const world = (cwd: string, own: Record<string, string | undefined> = env): World =>
  ({ cwd, env: own }) as unknown as World;
const profile = (commit?: string): Profile =>
  ({
    targets: [
      { name: 'old', role: 'reference', commit: 'not this one' },
      { name: 'new', role: 'candidate', ...(commit ? { commit } : {}) },
    ],
  }) as unknown as Profile;

describe('which commit a local session measures', () => {
  test("the artifacts' own, before all others", () => {
    writeFileSync(join(bundle, 'COMMIT'), `${SHA}-dirty\n`);
    expect(localCommit(bundle, 'dist', profile(SHA), world(repository))).toEqual({
      commit: `${SHA}-dirty`,
      from: "'dist/COMMIT'",
      problems: [],
    });
    writeFileSync(join(bundle, 'COMMIT'), 'v1.2\n');
    expect(localCommit(bundle, 'dist', profile(), world(repository)).problems).toEqual([
      "'dist/COMMIT': expected a commit of 7 to 64 hex digits, '-dirty' behind it when files were changed, found 'v1.2'",
    ]);
    // As git abbreviates it, and as the pod takes it.
    writeFileSync(join(bundle, 'COMMIT'), '0123456\n');
    expect(localCommit(bundle, 'dist', profile(), world(repository)).commit).toBe('0123456');
  });

  test("the candidate's, before the current directory's", () => {
    expect(localCommit(bare, 'bare', profile(SHA), world(repository))).toMatchObject({
      commit: SHA,
      from: "target 'new'",
    });
  });

  test('HEAD, and whether a file is changed or new', () => {
    expect(localCommit(bare, 'bare', profile(), world(repository)).commit).toBe(head);
    writeFileSync(join(repository, 'new.txt'), '');
    expect(localCommit(bare, 'bare', profile(), world(repository)).commit).toBe(`${head}-dirty`);
    rmSync(join(repository, 'new.txt'));
  });

  test.each([
    ['outside of a repository', () => world(bare)],
    ['without git', () => world(repository, { PATH: '/nowhere' })],
  ])('none %s', (_, where) => {
    expect(localCommit(bare, 'bare', profile(), where())).not.toHaveProperty('commit');
  });

  test('an outer git does not answer for it', () => {
    const inHook = world(bare, { ...env, GIT_DIR: join(repository, '.git'), GIT_WORK_TREE: repository });
    expect(localCommit(bare, 'bare', profile(), inHook)).not.toHaveProperty('commit');
  });
});

test('what is wrong says what was wanted and found', () => {
  const found = { commit: SHA, from: 'there', problems: [] };
  expect(commitProblems(found, undefined)).toEqual([]);
  expect(commitProblems(found, SHA.slice(0, 9))).toEqual([]);
  expect(commitProblems(found, 'fffffff')).toEqual([
    `flag '--commit': wanted fffffff, but there is at ${SHA}; check out or build the one you want`,
  ]);
  expect(commitProblems({ from: 'there', problems: [] }, 'fffffff')).toEqual([
    "flag '--commit': wanted fffffff, but there names no commit; leave --commit out, or build from it",
  ]);
});

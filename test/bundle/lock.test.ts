/** arms.lock written from the npm registry, and a bundle built from what was written. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, git, sourceTree } from './source-tree.ts';

let base: string;
let tree: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-lock-'));
  mkdirSync(join(base, 'home'));
  tree = sourceTree(base, 'artifacts:\n  - { kind: arm, id: num, lock: arms.lock }\n', { a: 'a' });
});
afterAll(() => rmSync(base, { recursive: true }));
const run = (...args: string[]) => bundle(tree, { home: join(base, 'home') }, ...args);
const lock = (version: string, path = 'index.js') =>
  run('lock', 'arms.lock', '--arm', `num=is-number@${version}:node_modules/is-number/${path}`);

test('a new arm, another version, the same again', () => {
  expect(lock('6.0.0')).toMatchObject({ exit: 0, stdout: 'num: new, is-number 6.0.0\n' });
  const changed = lock('7.0.0');
  expect(changed.exit).toBe(0);
  expect(changed.stdout).toStartWith('num: version: 6.0.0 → 7.0.0\n');
  expect(changed.stdout).toContain('num: executables.arm64.sha256: ');
  const before = readFileSync(join(tree, 'arms.lock'), 'utf8');
  expect(lock('7.0.0')).toMatchObject({ exit: 0, stdout: '' });
  expect(readFileSync(join(tree, 'arms.lock'), 'utf8')).toBe(before);
});

test('what was locked can be built', () => {
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'locked');
  expect(run('build', '--recipe', 'bundle.yaml', '--out', join(base, 'out'))).toMatchObject({ exit: 0 });
  expect(readFileSync(join(base, 'out/VERSIONS'), 'utf8')).toContain('arm-num=7.0.0\n');
});

test('refused: an executable that is not there; nothing is written', () => {
  const before = readFileSync(join(tree, 'arms.lock'), 'utf8');
  const { exit, stdout, stderr } = lock('7.0.0', 'gone.js');
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain(
    "arm 'num': 'node_modules/is-number/gone.js' is not there once it is installed for amd64",
  );
  expect(readFileSync(join(tree, 'arms.lock'), 'utf8')).toBe(before);
  expect(readdirSync(tree).toSorted()).toEqual(['.git', 'a', 'arms.lock', 'bundle.yaml', 'num']);
});

test.each<[string, string[], string]>([
  ['no arm', [], 'needs --arm='],
  [
    'a tag instead of a version range',
    ['--arm', 'num=is-number'],
    "flag '--arm': expected ID=PACKAGE@VERSION:PATH",
  ],
  ['a package of a directory', ['--arm', 'num=../x@1:y'], "flag '--arm': expected"],
])('refused: %s', (_, args, says) => {
  const { exit, stdout, stderr } = run('lock', 'arms.lock', ...args);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(says);
});

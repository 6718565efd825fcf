/** arms.lock written from the npm registry and from releases, and bundles built from what was written. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { bundle, git, sourceTree, write } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

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
  // All of it anew: the same version from the same place is the same.
  expect(run('lock', 'arms.lock')).toMatchObject({ exit: 0, stdout: '' });
  expect(readFileSync(join(tree, 'arms.lock'), 'utf8')).toBe(before);
}, 120_000);

test('what was locked can be built', () => {
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'locked');
  expect(run('build', '--recipe', 'bundle.yaml', '--out', join(base, 'out'))).toMatchObject({ exit: 0 });
  expect(readFileSync(join(base, 'out/VERSIONS'), 'utf8')).toContain('arm-num=7.0.0\n');
}, 60_000);

/** A program that its head says is for a machine, in an archive as people publish it. */
const publish = (version: string, arch: 'amd64' | 'arm64', machine: number, more = ''): void => {
  const program = Buffer.concat([Buffer.alloc(120), Buffer.from(more)]);
  program.write('\x7fELF\x02\x01\x01', 0, 'latin1');
  program.writeUInt16LE(2, 16);
  program.writeUInt16LE(machine, 18);
  const from = mkdtempSync(join(base, 'from-'));
  mkdirSync(join(from, `agent-${version}`));
  writeFileSync(join(from, `agent-${version}`, 'agent'), program, { mode: 0o755 });
  writeFileSync(join(from, `agent-${version}`, 'README'), 'read me');
  const copies = join(base, 'copies');
  mkdirSync(copies, { recursive: true });
  Bun.spawnSync([
    'tar',
    '-czf',
    join(copies, `agent-${version}-linux-${arch}.tar.gz`),
    '-C',
    from,
    `agent-${version}`,
  ]);
};
const wish = (version: string): string =>
  `agent=${version}@https://example.invalid/dl/agent-{version}-linux-{goarch}.tar.gz:agent-{version}/agent`;
const release = (version: string, ...more: string[]) =>
  run('lock', 'releases.lock', '--archives', join(base, 'copies'), '--arm', wish(version), ...more);
const releases = () => JSON.parse(readFileSync(join(tree, 'releases.lock'), 'utf8')).arms;

test('a release: both archives and their executables; another version; all of it anew; then built', () => {
  for (const version of ['1.0', '1.1']) {
    publish(version, 'amd64', 62, version);
    publish(version, 'arm64', 183, version);
  }
  expect(release('1.0')).toMatchObject({ exit: 0, stdout: 'agent: new, 1.0\n' });
  const archive = readFileSync(join(base, 'copies/agent-1.0-linux-arm64.tar.gz'));
  expect(releases().agent).toMatchObject({
    source: 'release',
    version: '1.0',
    archives: {
      arm64: {
        url: 'https://example.invalid/dl/agent-1.0-linux-arm64.tar.gz',
        size: archive.length,
        sha256: sha256(archive),
      },
    },
    executables: { amd64: { path: 'agent-1.0/agent', size: 123 }, arm64: { path: 'agent-1.0/agent' } },
  });
  const changed = release('1.1');
  expect(changed.stdout).toStartWith('agent: version: 1.0 → 1.1\n');
  expect(changed.stdout).toContain('agent: archives.amd64.url: ');
  const again = run('lock', 'releases.lock', '--archives', join(base, 'copies'));
  expect(again).toMatchObject({ exit: 0, stdout: '' });
  expect(again.stderr).toContain('nothing changed');

  write(tree, { 'release.yaml': 'artifacts:\n  - { kind: arm, id: agent, lock: releases.lock }\n' });
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'a release');
  const built = ['--recipe', 'release.yaml', '--out', join(base, 'agent'), '--arch', 'arm64'];
  expect(run('build', ...built, '--archives', join(base, 'copies'))).toMatchObject({ exit: 0 });
  expect(readFileSync(join(base, 'agent/VERSIONS'), 'utf8')).toContain('arm-agent=1.1\n');
}, 60_000);

test('refused: a release whose program is for another machine', () => {
  publish('2.0', 'amd64', 183);
  const { exit, stdout, stderr } = release('2.0');
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain(
    "'agent-2.0/agent' of 'https://example.invalid/dl/agent-2.0-linux-amd64.tar.gz' is not a Linux executable for amd64",
  );
  expect(releases().agent.version).toBe('1.1');
});

test('refused: an archive that can’t be had', () => {
  const { exit, stderr } = release('3.0');
  expect(exit).toBe(1);
  expect(stderr).toContain("can't download 'https://example.invalid/dl/agent-3.0-linux-amd64.tar.gz': ");
  expect(stderr).toContain("'--archives DIR' takes a copy named 'agent-3.0-linux-amd64.tar.gz'");
});

test('refused: an executable that is not there; nothing is written', () => {
  const before = readFileSync(join(tree, 'arms.lock'), 'utf8');
  const { exit, stdout, stderr } = lock('7.0.0', 'gone.js');
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain(
    "arm 'num': 'node_modules/is-number/gone.js' is not there once it is installed for amd64",
  );
  expect(readFileSync(join(tree, 'arms.lock'), 'utf8')).toBe(before);
  expect(readdirSync(join(tree, 'num')).toSorted()).toEqual(['package-lock.json', 'package.json']);
}, 60_000);

test.each<[string, string[], string]>([
  ['an arm twice', ['--arm', 'a=b@1:c', '--arm', 'a=b@2:c'], "flag '--arm': 'a' is named twice"],
  ['a release without TLS', ['--arm', 'a=1@http://x.example/a.tar.gz:b'], "flag '--arm': expected"],
  ['an archive that is not read', ['--arm', 'a=1@https://x.example/a.zip:b'], "flag '--arm': expected"],
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

test('refused: nothing to lock', () =>
  expect(run('lock', 'new.lock').stderr).toContain("'bundle lock' needs --arm="));

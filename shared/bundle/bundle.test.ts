import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../files.ts';
import type { Target } from '../../schemas/profile.ts';
import { archiveDigest, archiveDigests, archiveOf, ArchiveReader, archiveSize } from './archive.ts';
import { missingPrograms, readBundle } from './contents.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-bundle-'))));
afterAll(() => rmSync(base, { recursive: true }));

const elf = (machine: number): Buffer => {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.writeUInt16LE(machine, 18);
  return bytes;
};

let made = 0;
/** A bundle with these files, listed unless `unlisted`. */
const bundle = (files: Record<string, string | Buffer> = {}, list?: string): string => {
  const directory = join(base, `b${++made}`);
  const all: Record<string, string | Buffer> = { 'bin/tool': elf(62), 'lib/a.js': 'a', ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  writeFileSync(join(directory, 'COMMIT'), 'c0ffee\n');
  writeFileSync(join(directory, 'VERSIONS'), 'node=v24.1.0\nx=y=z\n');
  const lines = Object.entries(all).map(([path, content]) => `${sha256(content)}  ${path}\n`);
  writeFileSync(join(directory, 'ARTIFACTS.sha256'), list ?? lines.join(''));
  return directory;
};
const archive = async (directory: string): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of archiveOf(await readBundle(directory))) parts.push(part);
  return Buffer.concat(parts);
};

const target = (sample: string[]): Target => ({ name: 't', role: 'candidate', sample }) as Target;

describe('a bundle is read', () => {
  test('with what it says of itself', async () => {
    expect(await readBundle(bundle())).toMatchObject({
      problems: [],
      arch: 'amd64',
      commit: 'c0ffee',
      versions: { node: 'v24.1.0', x: 'y=z' },
      files: [
        { path: 'ARTIFACTS.sha256' },
        { path: 'COMMIT' },
        { path: 'VERSIONS' },
        { path: 'bin/tool', size: 64 },
        { path: 'lib/a.js', size: 1 },
      ],
    });
  });

  const digest = 'a'.repeat(64);
  test.each<[string, () => string, string]>([
    [
      'nothing of its own',
      () => (mkdirSync(join(base, 'none'), { recursive: true }), join(base, 'none')),
      'has no ARTIFACTS.sha256, COMMIT, VERSIONS',
    ],
    ['another content', () => bundle({}, `${digest}  lib/a.js\n`), "'lib/a.js' does not have the digest"],
    ['a missing file', () => bundle({}, `${digest}  lib/gone\n`), "'lib/gone' is listed and not there"],
    [
      'a path upwards',
      () => bundle({}, `${digest}  ../../etc/passwd\n`),
      "ARTIFACTS.sha256:1: the path '../../etc/passwd' leaves the bundle",
    ],
    ['an absolute path', () => bundle({}, `${digest}  /etc/passwd\n`), 'leaves the bundle'],
    ['a broken line', () => bundle({}, 'lib/a.js\n'), "ARTIFACTS.sha256:1: expected '<sha256>  <path>'"],
    ['a path twice', () => bundle({}, `${digest}  x\n${digest}  ./x\n`), 'listed twice'],
    [
      'a script in bin',
      () => bundle({ 'bin/script': '#!/bin/sh\n' + ' '.repeat(20) }),
      "'bin/script' is not a Linux executable",
    ],
    ['two architectures', () => bundle({ 'bin/other': elf(183) }), 'more than one architecture'],
    ['a strange machine', () => bundle({ 'bin/tool': elf(8) }), 'for another machine (ELF 8)'],
    [
      'a link outside',
      () => {
        const one = bundle();
        symlinkSync('../../etc', join(one, 'lib/out'));
        return one;
      },
      "the link 'lib/out' leaves the bundle",
    ],
    [
      'a link to the root',
      () => {
        const one = bundle();
        symlinkSync('/etc', join(one, 'lib/out'));
        return one;
      },
      'leaves the bundle',
    ],
    [
      'a pipe',
      () => {
        const one = bundle();
        spawnSync('mkfifo', [join(one, 'pipe')]);
        return one;
      },
      "'pipe' is neither a file nor a directory nor a link",
    ],
  ])('%s is refused', async (_, make, says) => {
    expect((await readBundle(make())).problems.join('\n')).toContain(says);
  });

  test('targets must find their programs in it', async () => {
    const contents = await readBundle(bundle({ 'dist/a.wasm': 'x' }));
    const missing = (...sample: string[]): string[] => missingPrograms(contents, [target(sample)]);
    expect(missing('node', '{root}/lib/a.js', '-wasm={root}/dist/a.wasm', '{root}/dist', '{dir}/x')).toEqual(
      [],
    );
    expect(missing('tool')).toEqual([]);
    expect(missing('python3')).toEqual([expect.stringContaining("starts 'python3'")]);
    expect(missing('{root}/bin/no')).toEqual([expect.stringContaining("names '{root}/bin/no'")]);
  });
});

describe('an archive', () => {
  test("is what the system's tar reads, with every file and mode", async () => {
    const long = `lib/${'n'.repeat(90)}/${'m'.repeat(120)}.js`;
    const directory = bundle({
      [long]: 'long',
      'lib/ü😀.js': 'wide',
      'lib/empty': '',
      'lib/big': Buffer.alloc(3 << 20, 7),
    });
    chmodSync(join(directory, 'bin/tool'), 0o755);
    symlinkSync('a.js', join(directory, 'lib/link.js'));
    const bytes = await archive(directory);
    const out = join(base, 'out');
    mkdirSync(out);
    expect(spawnSync('tar', ['-xof', '-', '-C', out], { input: bytes }).status).toBe(0);
    expect(spawnSync('diff', ['-r', directory, out]).stdout.toString()).toBe('');
    expect(spawnSync('find', [out, '-perm', '755', '-type', 'f', '-printf', '%P']).stdout.toString()).toBe(
      'bin/tool',
    );
    expect(readFileSync(join(out, 'lib/link.js'), 'utf8')).toBe('a');
    expect(await archiveDigest(await readBundle(directory))).toBe(sha256(bytes));
    expect(archiveSize(await readBundle(directory))).toBe(bytes.length);
  });

  test('has the same bytes whatever times, modes and order the files have', async () => {
    const one = bundle({ 'lib/b.js': 'b' });
    const two = join(base, 'copy');
    cpSync(one, two, { recursive: true });
    for (const path of ['lib/a.js', 'bin/tool']) utimesSync(join(two, path), 5, 5);
    chmodSync(join(two, 'lib/a.js'), 0o600);
    // A file that is not listed stays behind.
    writeFileSync(join(two, 'lib/scratch'), 'x');
    const [a, b] = [await archive(one), await archive(two)];
    expect(a.equals(b)).toBe(true);
    expect((await readBundle(two)).unlisted).toEqual(['lib/scratch']);
    expect(archiveSize(await readBundle(one))).toBe(a.length);
  });

  test.each<[string, (path: string) => void, string]>([
    ['shrank', (path) => writeFileSync(path, ''), "can't pack 'lib/a.js': it ended 1 bytes early"],
    ['grew', (path) => appendFileSync(path, 'more'), "can't pack 'lib/a.js': it had 1 bytes and has 5 now"],
    ['is gone', (path) => rmSync(path), "can't read 'lib/a.js': it does not exist"],
    [
      'became a link',
      (path) => {
        rmSync(path);
        symlinkSync('/etc/passwd', path);
      },
      "can't read 'lib/a.js': too many symbolic links",
    ],
  ])('of a file that %s is an error that names it', async (_, change, says) => {
    const directory = bundle();
    const contents = await readBundle(directory);
    change(join(directory, 'lib/a.js'));
    await expect(archiveDigest(contents)).rejects.toThrow(says);
  });

  test('of a file that grows while it is read is an error, too', async () => {
    const directory = bundle({ 'lib/a.js': Buffer.alloc(3 << 20, 1) });
    const reader = new ArchiveReader(await readBundle(directory));
    const block = Buffer.alloc(1 << 20);
    reader.fill(block);
    reader.fill(block);
    appendFileSync(join(directory, 'lib/a.js'), 'more');
    expect(() => {
      while (reader.fill(block) > 0);
    }).toThrow("can't pack 'lib/a.js': it had 3145728 bytes and has 3145732 now");
  });

  test('of a file with the same length and other bytes: it is told at the end', async () => {
    const directory = bundle();
    const contents = await readBundle(directory, directory, { digests: false });
    writeFileSync(join(directory, 'lib/a.js'), 'b');
    expect((await archiveDigests(contents, { digests: true })).changed).toEqual(['lib/a.js']);
  });

  test('of files from before 1970 is the same as of any other', async () => {
    const directory = bundle();
    const before = await archiveDigest(await readBundle(directory));
    utimesSync(join(directory, 'lib/a.js'), -86_400, -86_400);
    expect(await archiveDigest(await readBundle(directory))).toBe(before);
  });

  test('below a directory: every directory stands before what it holds', async () => {
    const directory = bundle({ 'lib/deep/er/x': 'x' });
    const reader = new ArchiveReader(await readBundle(directory), { under: 'opt/k8sbench/' });
    const block = Buffer.alloc(1 << 20);
    const bytes = block.subarray(0, reader.fill(block));
    const names = spawnSync('tar', ['-tf', '-'], { input: bytes }).stdout.toString().trim().split('\n');
    expect(names.slice(0, 4)).toEqual([
      'opt/',
      'opt/k8sbench/',
      'opt/k8sbench/ARTIFACTS.sha256',
      'opt/k8sbench/COMMIT',
    ]);
    const seen = new Set<string>(['']);
    for (const name of names) {
      const parent = name
        .replace(/\/$/, '')
        .split('/')
        .slice(0, -1)
        .map((part) => `${part}/`)
        .join('');
      expect([name, seen.has(parent)]).toEqual([name, true]);
      seen.add(name);
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { runTool } from '../../test/outside.ts';
import { readElf } from './elf.ts';
import { shebangProblem } from './executables.ts';
import { main } from './main.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-executables-'))));
afterAll(() => rmSync(base, { recursive: true }));

interface Made {
  machine?: number;
  bits?: 1 | 2;
  endian?: 1 | 2;
  /** 2: fixed place, 3: anywhere (also libraries). */
  type?: number;
  interpreter?: string;
  entry?: number;
  cut?: number;
}

/** An ELF file of nothing but its heads. */
const elf = ({
  machine = 62,
  bits = 2,
  endian = 1,
  type = 2,
  interpreter,
  entry = 1,
  cut,
}: Made = {}): Buffer => {
  const bytes = Buffer.alloc(64 + 56 + 64);
  bytes.write('\x7fELF', 0, 'latin1');
  bytes.set([bits, endian, 1], 4);
  bytes[endian === 2 ? 17 : 16] = type;
  bytes[endian === 2 ? 19 : 18] = machine;
  bytes.writeBigUInt64LE(BigInt(entry), 24);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  if (interpreter !== undefined) {
    bytes.writeUInt32LE(3, 64);
    bytes.writeBigUInt64LE(120n, 64 + 8);
    bytes.writeBigUInt64LE(BigInt(interpreter.length + 1), 64 + 32);
    bytes.write(interpreter, 120, 'latin1');
  }
  return bytes.subarray(0, cut ?? bytes.length);
};
const GLIBC = '/lib64/ld-linux-x86-64.so.2';

let made = 0;
/** A bundle of executable files, all listed but those in `strays`. */
const bundle = (files: Record<string, string | Buffer>, strays: string[] = []): string => {
  const directory = join(base, `b${++made}`);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content, { mode: 0o755 });
  }
  writeFileSync(join(directory, 'COMMIT'), 'c0ffee\n');
  if (!('VERSIONS' in files)) writeFileSync(join(directory, 'VERSIONS'), 'arch=amd64\n');
  const listed = Object.entries(files).filter(([path]) => !strays.includes(path) && path !== 'VERSIONS');
  writeFileSync(
    join(directory, 'ARTIFACTS.sha256'),
    listed.map(([path, content]) => `${sha256(content)}  ${path}\n`).join(''),
  );
  return directory;
};
const check = (directory: string, ...more: string[]) => runTool(main, ['check', directory, ...more]);

describe('a bundle that can run', () => {
  test.each<[string, Record<string, string | Buffer>, string]>([
    ['static programs', { 'bin/a': elf(), 'bin/b': elf({ type: 3 }) }, ''],
    [
      'a dynamic one',
      { 'bin/a': elf({ type: 3, interpreter: GLIBC }) },
      `must have '${GLIBC}' (glibc), for bin/a`,
    ],
    ['musl', { 'bin/a': elf({ interpreter: '/lib/ld-musl-x86_64.so.1' }) }, '(musl), for bin/a'],
    [
      'scripts',
      {
        'bin/a': elf(),
        'lib/x': '#!/bin/sh\n',
        'lib/y': '#!/usr/bin/env -S node --x\n',
        'lib/z': '#!/usr/bin/env a\n',
      },
      '',
    ],
    [
      'packages with programs for others',
      { 'lib/node_modules/x/arm': elf({ machine: 183 }), 'lib/node_modules/x/s': '#!/usr/bin/perl\n' },
      '',
    ],
    ['libraries for others', { 'lib/x.so': elf({ machine: 183, type: 3, entry: 0 }) }, ''],
  ])('%s', async (_, files, says) => {
    const { exit, stdout, stderr } = await check(bundle(files));
    expect({ exit, stderr: stderr === '' || stderr.includes(says) ? '' : stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(stderr.includes(says)).toBe(true);
    expect(stdout).toMatch(/^[0-9a-f]{64} {2}/);
  });
});

describe('refused', () => {
  test.each<[string, Record<string, string | Buffer>, string]>([
    ['32 bits', { 'bin/a': elf({ bits: 1 }) }, "'bin/a' is a 32-bit program"],
    ['big-endian', { 'lib/a': elf({ endian: 2 }) }, "'lib/a' is a big-endian program"],
    [
      'another loader',
      { 'bin/a': elf({ interpreter: '/nix/store/x/ld.so' }) },
      "wants the loader '/nix/store/x/ld.so'",
    ],
    [
      'two C libraries',
      { 'bin/a': elf({ interpreter: GLIBC }), 'bin/b': elf({ interpreter: '/lib/ld-musl-x86_64.so.1' }) },
      'want two C libraries',
    ],
    ['a library in bin', { 'bin/a': elf({ type: 3, entry: 0 }) }, "'bin/a' is a library, not a program"],
    [
      'a program outside of bin for others',
      { 'bin/a': elf(), 'lib/arm': elf({ machine: 183 }) },
      "'lib/arm' is for arm64, the bundle for amd64",
    ],
    ['a cut head', { 'bin/a': elf({ cut: 40 }) }, 'it ends within its header'],
    ['cut program headers', { 'bin/a': elf({ cut: 100 }) }, 'it ends within its program headers'],
    [
      'a script for a program that is not there',
      { 'lib/x': '#!/usr/bin/env python3\n' },
      "it wants 'python3'",
    ],
    ['a release that is none', { 'lib/x': '', VERSIONS: 'arch=amd64\nnode=24\n' }, "found 'node=24'"],
  ])('%s', async (_, files, says) => {
    const { exit, stdout, stderr } = await check(bundle(files));
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('everything at once', async () => {
    const { exit, stderr } = await check(
      bundle({ 'bin/a': elf({ bits: 1 }), 'lib/x': '#!perl\n', 'lib/stray': '' }, ['lib/stray']),
      '--profile',
      'durable-store',
    );
    expect(exit).toBe(1);
    for (const one of [
      '32-bit',
      "it wants 'perl'",
      "'lib/stray' is not listed",
      "lacks 'node=v…'",
      "names '{root}/lib/durable-store/main.ts'",
    ])
      expect(stderr).toContain(one);
  });
});

test('real programs are read as readelf reads them', () => {
  const read = spawnSync('readelf', ['-lW', process.execPath], { encoding: 'utf8' }).stdout;
  expect(readElf(process.execPath)).toEqual({
    bits: 64,
    bigEndian: false,
    program: true,
    machine: process.arch === 'x64' ? 62 : 183,
    arch: process.arch === 'x64' ? 'amd64' : 'arm64',
    interpreter: /interpreter: (.*)\]/.exec(read)![1]!,
  });
});

test.each<[string, boolean]>([
  ['#!/bin/sh -e', true],
  ['#! /usr/bin/env node', true],
  ['#!/usr/bin/env A=1 tool', true],
  ['no script', true],
  ['#!/bin/sh\r', false],
  ['#!', false],
  ['#!/usr/bin/env', false],
  ['#!/bin/bash', false],
  ['#!/usr/local/bin/tool', false],
])('first line %p', (line, fits) =>
  expect(shebangProblem(line, (path) => path === 'bin/tool') === undefined).toBe(fits),
);

/** Archives of the system's tar, spoiled anywhere: whatever comes of one, nothing is written elsewhere, no link leads out, and nobody waits for ever. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Failure } from '../../shared/failure.ts';
import { takeTree } from './members.ts';

let base: string;
let archives: Buffer[];
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-spoiled-'));
  const from = join(base, 'from');
  mkdirSync(join(from, 'top/d'), { recursive: true });
  for (const name of ['a', `d/${'n'.repeat(110)}`, 'd/é'])
    writeFileSync(join(from, 'top', name), name.repeat(300));
  symlinkSync('a', join(from, 'top/l'));
  linkSync(join(from, 'top/a'), join(from, 'top/h'));
  archives = ['pax', 'gnu'].map((format) =>
    Buffer.from(Bun.spawnSync(['tar', `--format=${format}`, '-cf', '-', '-C', from, 'top']).stdout),
  );
});
afterAll(() => rmSync(base, { recursive: true }));

const NAMES = [
  '../x',
  '/etc/x',
  'top/../../y',
  'top/l/z',
  '',
  'top',
  './',
  'top/d',
  '\\x',
  'GNU.sparse.major',
  'top/l',
  'a/../..',
];
const SIZES = [
  '00000000000',
  '77777777777',
  '\x80\0\0\0\0\0\0\0\0\0\0\x05',
  '\xff'.repeat(12),
  '00000001000',
];
const TYPES = '0123456789xgLKSVMN';

/** A random choice that is the same each time. */
const chooser = (seed: number): ((below: number) => number) => {
  let at = seed;
  return (below) => (at = (at * 48_271) % 2_147_483_647) % below;
};

/** Writes a head's checksum anew, so that the head is believed. */
const believe = (bytes: Buffer, head: number): void => {
  bytes.fill(' ', head + 148, head + 156);
  const sum = bytes.subarray(head, head + 512).reduce((all, one) => all + one, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, head + 148, 'latin1');
};

const spoiled = (archive: Buffer, choose: (below: number) => number): Buffer => {
  const bytes = Buffer.from(archive);
  for (let times = 1 + choose(4); times > 0; times--) {
    const head = choose(bytes.length / 512) * 512;
    const put = (text: string, at: number, length: number): void =>
      void bytes.write(text.padEnd(length, '\0'), head + at, length, 'latin1');
    [
      () => void (bytes[head + choose(512)] = choose(256)),
      () => put(NAMES[choose(NAMES.length)]!, 0, 100),
      () => put(NAMES[choose(NAMES.length)]!, 157, 100),
      () => put(TYPES[choose(TYPES.length)]!, 156, 1),
      () => put(SIZES[choose(SIZES.length)]!, 124, 12),
    ][choose(5)]!();
    if (choose(5) > 0) believe(bytes, head);
  }
  return choose(5) === 0 ? bytes.subarray(0, choose(bytes.length)) : bytes;
};

/** Links below a directory that lead out of it, and what is neither file, link nor directory. */
const strange = (top: string, directory = top): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((one) => {
    const path = join(directory, one.name);
    if (one.isDirectory()) return strange(top, path);
    if (one.isSymbolicLink())
      return `${join(dirname(path), readlinkSync(path))}/`.startsWith(`${top}/`) ? [] : [path];
    return one.isFile() ? [] : [path];
  });

test('a hundred of them', async () => {
  const choose = chooser(20_261_130);
  const ends = { taken: 0, refused: 0 };
  for (let at = 0; at < 100; at++) {
    const place = join(base, String(at));
    const out = join(place, 'in/out');
    mkdirSync(out, { recursive: true });
    const bytes = spoiled(archives[at % archives.length]!, choose);
    const name = at % 4 < 2 ? 'a.tar' : 'a.tar.gz';
    const path = join(place, 'in', name);
    writeFileSync(path, name === 'a.tar' ? bytes : gzipSync(bytes));
    try {
      await takeTree(path, name, statSync(path).size, 'top', out);
      ends.taken++;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ends.refused++;
    }
    expect([readdirSync(place), readdirSync(join(place, 'in')).toSorted()]).toEqual([
      ['in'],
      [name, 'out'].toSorted(),
    ]);
    expect(strange(out)).toEqual([]);
    rmSync(place, { recursive: true });
  }
  // Both happen, or the archives were spoiled too much or too little.
  expect([ends.taken > 5, ends.refused > 50]).toEqual([true, true]);
}, 60_000);

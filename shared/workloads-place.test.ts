import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from './files.ts';
import type { PackedFiles } from './own-files.ts';
import { unpackInto, workloadsRoot } from './workloads-place.ts';

let scratch: string;
beforeAll(() => void (scratch = mkdtempSync(join(tmpdir(), 'k8sbench-place-'))));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const place = (): string => mkdtempSync(join(scratch, 'p-'));

const TEXTS = { 'package.json': '{}', 'lib/a.ts': 'a', 'lib/deep/b.ts': 'b' };
/** Files that a binary would carry, with other contents when told. */
const packed = (changes: Record<string, string> = {}): PackedFiles => {
  const from = place();
  return Object.fromEntries(
    Object.entries({ ...TEXTS, ...changes }).map(([path, text]) => {
      const file = join(from, sha256(path));
      writeFileSync(file, text);
      return [path, { file, sha256: sha256(text) }];
    }),
  );
};
const textsIn = (root: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(root, { recursive: true }) as string[])
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );

describe('unpacking', () => {
  test('gives every file, in a directory named by their digest, and leaves nothing else', () => {
    const cache = join(place(), 'not/yet/there');
    const root = unpackInto(cache, packed());
    expect(textsIn(root)).toEqual(TEXTS);
    expect(readdirSync(cache)).toHaveLength(1);
    expect(unpackInto(join(place(), 'c'), packed()).split('/').at(-1)).toBe(root.split('/').at(-1)!);
    expect(unpackInto(cache, packed({ 'lib/a.ts': 'other' }))).not.toBe(root);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
  });

  test('files that are as they should be are left alone', () => {
    const cache = join(place(), 'c');
    const files = packed();
    const root = unpackInto(cache, files);
    utimesSync(join(root, 'lib/a.ts'), 1000, 1000);
    expect(unpackInto(cache, files)).toBe(root);
    expect(statSync(join(root, 'lib/a.ts')).mtimeMs).toBe(1_000_000);
  });

  test.each<[string, (root: string) => void]>([
    ['a changed file', (root) => writeFileSync(join(root, 'lib/a.ts'), 'b')],
    ['a half-written file', (root) => writeFileSync(join(root, 'lib/a.ts'), '')],
    ['a missing file', (root) => rmSync(join(root, 'lib/deep/b.ts'))],
    ['a further file', (root) => writeFileSync(join(root, 'lib/tsconfig.json'), '{}')],
    [
      'a link',
      (root) => {
        rmSync(join(root, 'lib/a.ts'));
        symlinkSync('/etc/hostname', join(root, 'lib/a.ts'));
      },
    ],
    [
      'a file in its place',
      (root) => {
        rmSync(root, { recursive: true });
        writeFileSync(root, '');
      },
    ],
  ])('%s is put right', (_, change) => {
    const cache = join(place(), 'c');
    const files = packed();
    const root = unpackInto(cache, files);
    change(root);
    expect(unpackInto(cache, files)).toBe(root);
    expect(textsIn(root)).toEqual(TEXTS);
    expect(readdirSync(cache)).toHaveLength(1);
  });

  test('what lies in a directory that others can write is not run', () => {
    const cache = place();
    chmodSync(cache, 0o777);
    expect(() => unpackInto(cache, packed())).toThrow('others can write into it');
    expect(readdirSync(cache)).toEqual([]);
  });

  test('a failure leaves nothing behind', () => {
    const cache = join(place(), 'c');
    const files = { ...packed(), gone: { file: join(scratch, 'nowhere'), sha256: sha256('') } };
    expect(() => unpackInto(cache, files)).toThrow('ENOENT');
    expect(readdirSync(cache)).toEqual([]);
  });

  test('many at once give one directory, whole', async () => {
    const cache = join(place(), 'c');
    const files = JSON.stringify(packed());
    const module = JSON.stringify(join(import.meta.dir, 'workloads-place.ts'));
    const code = `const { unpackInto } = await import(${module}); console.log(unpackInto(${JSON.stringify(cache)}, ${files}));`;
    const children = Array.from({ length: 6 }, () =>
      Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' }),
    );
    const roots = await Promise.all(children.map((one) => new Response(one.stdout).text()));
    expect(await Promise.all(children.map((one) => one.exited))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(new Set(roots).size).toBe(1);
    expect(textsIn(roots[0]!.trim())).toEqual(TEXTS);
    expect(readdirSync(cache)).toHaveLength(1);
  });
});

test('in a source tree the workloads are where they are', () => {
  mkdirSync(join(scratch, 'home'));
  const root = workloadsRoot({ HOME: join(scratch, 'home') });
  expect(existsSync(join(root, 'lib/runtimes.mjs'))).toBe(true);
  expect(readdirSync(join(scratch, 'home'))).toEqual([]);
});

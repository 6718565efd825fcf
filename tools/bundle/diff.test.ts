import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { contentDigest } from './content-digest.ts';
import { firstDifference } from './diff.ts';
import { changesOf } from './lock.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-diff-'))));
afterAll(() => rmSync(base, { recursive: true }));

/** The obvious way. */
const slowly = (a: Buffer, b: Buffer): number => {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
};

test.each([0, 1, 511, 65_535, 65_536, 65_537, 131_072, 200_000])(
  'files that differ from byte %i on',
  (at) => {
    const content = Buffer.alloc(200_001, 'abc');
    const [a, b] = [join(base, 'a'), join(base, 'b')];
    const changed = Buffer.from(content);
    changed[at]! ^= 1;
    for (const [left, right] of [
      [content, changed],
      [content, content.subarray(0, at)],
      [content.subarray(0, at), content],
    ] as const) {
      writeFileSync(a, left);
      writeFileSync(b, right);
      expect(firstDifference(a, b)).toBe(slowly(left, right));
    }
  },
);

test('a content digest is that of sha256sum’s lines in bytewise order, nested node_modules left out', async () => {
  const directory = join(base, 'packages');
  for (const path of ['a/index.js', 'a/B.js', 'a/ü.js', 'a-b/x', 'a/node_modules/c/index.js', 'z']) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), path);
  }
  symlinkSync('z', join(directory, 'link'));
  const slow = Bun.spawnSync(
    [
      'bash',
      '-c',
      "find . -name node_modules -prune -o -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum",
    ],
    { cwd: directory },
  );
  expect(await contentDigest(directory)).toBe(slow.stdout.toString().slice(0, 64));
});

test('what changed of an arm, each field in a line', () => {
  expect(changesOf('x', { a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 4 }, e: 5 })).toEqual([
    'x: b.c: 2 → 4',
    'x: b.d: 3 → none',
    'x: e: none → 5',
  ]);
  expect(changesOf('x', { a: 1 }, { a: 1 })).toEqual([]);
});

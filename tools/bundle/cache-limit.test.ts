import { afterAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildInto, cached, cacheOf, markUsed } from './cache.ts';
import {
  bytesIn,
  entriesOf,
  type Entry,
  limitOf,
  prune,
  sizeOf,
  surplusOf,
  whileInUse,
} from './cache-limit.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-cache-'));
afterAll(() => rmSync(base, { recursive: true }));

describe('what has to go', () => {
  const entry = (name: string, size_bytes: number): Entry => ({
    kind: 'artifact',
    name,
    path: name,
    size_bytes,
    used_at: '',
  });
  const entries = [
    entry('new', 5),
    entry('older', 3),
    entry('empty', 0),
    entry('old', 4),
    entry('oldest', 1),
  ];
  test.each<[number, string[]]>([
    [100, []],
    [13, []],
    [12, ['oldest']],
    // Nothing small and old stays because it would still fit: what goes is what was used longest ago.
    [9, ['old', 'oldest']],
    [8, ['old', 'oldest']],
    [7, ['older', 'empty', 'old', 'oldest']],
    [4, ['new', 'older', 'empty', 'old', 'oldest']],
  ])('for %d bytes', (most, gone) => expect(surplusOf(entries, most).map(({ name }) => name)).toEqual(gone));
  test('for nothing at all, also what takes no room', () => expect(surplusOf(entries, 0)).toEqual(entries));
});

test.each<[string, number]>([
  ['10Gi', 10 * 2 ** 30],
  ['1.5G', 1.5e9],
  ['0', 0],
])('%s is a size', (given, bytes) => expect(bytesIn(given, 'x')).toBe(bytes));
test.each(['-1', '10GB', 'all', ''])("'%s' is none", (given) =>
  expect(() => bytesIn(given, "flag '--max'")).toThrow(
    "flag '--max': expected a size such as 10Gi, 500M or 0",
  ),
);
test('the environment says how much a build leaves', () => {
  expect(limitOf({})).toBe(10 * 2 ** 30);
  expect(limitOf({ K8SBENCH_CACHE_MAX: '5G' })).toBe(5e9);
  expect(() => limitOf({ K8SBENCH_CACHE_MAX: 'x' })).toThrow('$K8SBENCH_CACHE_MAX: expected a size');
});

test('artifacts and archives by their last use; what was used longest ago goes; nothing while a build is at work', async () => {
  const cache = cacheOf({ XDG_CACHE_HOME: base });
  const build = async (key: string, size: number): Promise<void> => {
    await buildInto(cache, { key, name: `files ${key}` }, async ({ out }) =>
      writeFileSync(join(out, 'file'), Buffer.alloc(size)),
    );
  };
  await build('a', 300);
  await build('b', 200);
  mkdirSync(join(cache, 'archives'));
  const archive = join(cache, 'archives', '5'.repeat(64));
  writeFileSync(archive, Buffer.alloc(100));
  // A download that was cut off is none.
  writeFileSync(`${archive}.tmp`, 'part');
  const used = (path: string, second: number): void => utimesSync(path, second, second);
  used(join(cache, 'artifacts/a/about.json'), 1000);
  used(join(cache, 'artifacts/b/about.json'), 2000);
  used(archive, 3000);
  const names = async () =>
    (await entriesOf(cache)).map(({ name, size_bytes }) => `${name.slice(0, 7)} ${size_bytes}`);
  expect(await names()).toEqual(['5555555 100', 'files b 200', 'files a 300']);
  expect(sizeOf(await entriesOf(cache))).toBe(600);

  await whileInUse(cache, async () => expect(await prune(cache, 0)).toBeUndefined());
  expect(await names()).toHaveLength(3);
  // What is taken from the cache was used now.
  expect((await cached(cache, { key: 'a', name: 'files a' }))?.files).toHaveLength(1);
  expect((await names())[0]).toBe('files a 300');
  used(join(cache, 'artifacts/a/about.json'), 1000);
  markUsed(join(cache, 'artifacts/a/about.json'));
  expect((await prune(cache, 450))!.map(({ name }) => name)).toEqual(['files b']);
  expect([
    existsSync(join(cache, 'artifacts/b')),
    await cached(cache, { key: 'b', name: 'files b' }),
  ]).toEqual([false, undefined]);
  expect((await prune(cache, 0))!).toHaveLength(2);
  expect(await entriesOf(cache)).toEqual([]);
});

describe('builds beside each other', () => {
  const cacheIn = (name: string): string => cacheOf({ XDG_CACHE_HOME: join(base, name) });
  const known = { key: 'k', name: 'files k' };
  const build = (cache: string, content: string) =>
    buildInto(cache, known, async ({ out }) => writeFileSync(join(out, 'file'), content));

  test('what is there and whole stays where it is: somebody may be copying it', async () => {
    const cache = cacheIn('whole');
    const first = await build(cache, 'a');
    const { ino } = statSync(first.directory);
    const second = await build(cache, 'a');
    expect(second).toEqual(first);
    expect(statSync(second.directory).ino).toBe(ino);
  });

  test('what is there in pieces is built anew', async () => {
    const cache = cacheIn('pieces');
    const { directory } = await build(cache, 'a');
    writeFileSync(join(directory, 'file'), 'b');
    expect(await cached(cache, known)).toBeUndefined();
    await build(cache, 'a');
    expect((await cached(cache, known))?.files).toHaveLength(1);
    expect(readdirSync(join(cache, 'artifacts'))).toEqual(['k']);
  });

  test.each(['', '{"name":', 'null', '{"name":"a","size_bytes":"many"}'])(
    'an about.json that says %j is none: the artifact is listed, used and mended',
    async (torn) => {
      const cache = cacheIn(`torn-${torn.length}`);
      await build(cache, 'abc');
      writeFileSync(join(cache, 'artifacts/k/about.json'), torn);
      expect(await entriesOf(cache)).toMatchObject([{ kind: 'artifact', name: '', size_bytes: 3 }]);
      expect(await cached(cache, known)).toBeDefined();
      expect(await entriesOf(cache)).toMatchObject([{ name: 'files k', size_bytes: 3 }]);
    },
  );

  test('an artifact is taken from a cache that its about.json can’t be written to', async () => {
    const cache = cacheIn('fixed');
    await build(cache, 'abc');
    // A directory in its place: not even root writes a file there.
    const about = join(cache, 'artifacts/k/about.json');
    rmSync(about);
    mkdirSync(about);
    expect((await cached(cache, known))?.files).toHaveLength(1);
  });
});

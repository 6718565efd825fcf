import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './files.ts';
import { buildsIn, BUILT, holdBuild, MEASURED } from './kept-builds.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench kept '));
afterAll(() => rmSync(base, { recursive: true }));
const [one, two, broken] = ['0', '1', '2'].map((digit) =>
  join(base, 'k8sbench/builds/app-01234567', `${digit.repeat(12)}-89abcdef`),
) as [string, string, string];
for (const entry of [one, two, broken]) mkdirSync(entry, { recursive: true });
for (const entry of [one, two]) writeFileSync(join(entry, BUILT), '{}');

test.each<[string[], string[]]>([
  [[`${one}/tree/bin/app`, 'data'], [one]],
  [['env', '-C', `${one}/tree/sub`, 'npm', `${one}/tree/x`], [one]],
  [
    ['sh', '-c', `cd '${one}/tree' && exec '${two}/tree/x'`],
    [one, two],
  ],
  [[`--config=${two}/tree/c.json`], [two]],
  [[one], [one]],
  [[`${broken}/tree/bin/app`], []],
  [[`${one}0/tree`, join(one, '..'), '/k8sbench/builds/app/000000000000-89abcdef/tree', 'true', ''], []],
])('%j', (words, entries) => expect(buildsIn(words)).toEqual(entries));

test('several may hold a build, and nobody has it alone until the last lets it go', () => {
  const lock = join(one, MEASURED);
  const releases = [holdBuild(one), holdBuild(one)];
  for (const release of releases) {
    expect(tryLock(lock)).toBeUndefined();
    release();
  }
  const release = tryLock(lock);
  expect(release).toBeDefined();
  release!();
});

test('one that is gone is held by nobody', () => {
  expect(holdBuild(join(base, 'gone'))()).toBeUndefined();
});

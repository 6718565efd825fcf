import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realWorld } from '../../shared/world.ts';
import { cleanUp, dataPath, makeData, ownedBy } from './leftovers.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-left-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const world = { ...realWorld(), env: { TMPDIR: scratch } };

const dataOf = (run: string): string => {
  const path = dataPath(run, world);
  makeData(path);
  return path;
};

test('fixtures live in a private directory of the run, and go with all that is in it', async () => {
  const data = dataOf('run-a');
  expect(statSync(data).mode & 0o777).toBe(0o700);
  mkdirSync(join(data, 'deep'));
  writeFileSync(join(data, 'deep', 'file'), 'x');
  expect(ownedBy('run-a', { data })).toEqual({ data });
  expect(await cleanUp({ data })).toEqual([]);
  expect(existsSync(data)).toBe(false);
  expect(await cleanUp({ data })).toEqual([]);
});

test('what another run made, or nobody, is not removed because a file says so', () => {
  const other = dataOf('run-b');
  const link = join(scratch, 'k8sbench-run-a-link');
  symlinkSync(other, link);
  const file = join(scratch, 'k8sbench-run-a-file');
  writeFileSync(file, '');
  for (const path of [
    other,
    link,
    file,
    scratch,
    '/',
    '/etc',
    `${scratch}/k8sbench-run-a-missing`,
    'k8sbench-run-a-x',
  ])
    expect(ownedBy('run-a', { data: path, cgroup: path })).toEqual({});
});

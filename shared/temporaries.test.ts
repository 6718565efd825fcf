import { afterAll, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamAtomically, writeAtomically } from './files.ts';
import { openTemporary } from './temporaries.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-temporaries-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const path = join(base, 'file.json');
const modules = join(import.meta.dir, 'temporaries.ts');

/** A process that has begun to write a file, and goes on until it is killed. */
const writerOf = async (target: string) => {
  const code = `const { openTemporary } = await import(${JSON.stringify(modules)});
    openTemporary(${JSON.stringify(target)}); console.log('begun'); setInterval(() => undefined, 1000);`;
  const child = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' });
  for await (const _ of child.stdout) break;
  return child;
};
const temporaries = (): string[] => readdirSync(base).filter((one) => one.endsWith('.tmp'));

test('what a killed writer left goes away with the next writing of that file, and of no other', async () => {
  const child = await writerOf(path);
  child.kill('SIGKILL');
  await child.exited;
  expect(temporaries()).toHaveLength(1);
  writeAtomically(join(base, 'other.json'), 'x');
  expect(temporaries()).toHaveLength(1);
  writeAtomically(path, 'x');
  expect(temporaries()).toEqual([]);
}, 30_000);

test('what a living writer is at stays, and is finished', async () => {
  const child = await writerOf(path);
  writeAtomically(path, 'mine');
  await streamAtomically(path, ['mine', ' too']);
  expect(temporaries()).toHaveLength(1);
  child.kill('SIGKILL');
  await child.exited;
  await streamAtomically(path, ['last']);
  expect(temporaries()).toEqual([]);
}, 30_000);

test('files of other names are not touched', () => {
  const names = [
    'file.json.tmp',
    'file.json.x.tmp',
    'file.json.bak',
    `file.jsonx.${crypto.randomUUID()}.tmp`,
  ];
  for (const name of names) writeFileSync(join(base, name), '');
  const { fd, temporary } = openTemporary(path);
  expect(names.filter((name) => readdirSync(base).includes(name))).toEqual(names);
  closeSync(fd);
  rmSync(temporary);
});

test('many writers of one file take nothing away from each other', async () => {
  await Promise.all(
    Array.from(
      { length: 8 },
      (_, at) =>
        Bun.spawn([
          process.execPath,
          '-e',
          `const { writeAtomically } = await import(${JSON.stringify(join(import.meta.dir, 'files.ts'))});
        for (let time = 0; time < 100; time++) writeAtomically(${JSON.stringify(path)}, '${at}'.repeat(1000));`,
        ]).exited,
    ),
  ).then((exits) => expect(exits).toEqual(Array.from({ length: 8 }, () => 0)));
}, 60_000);

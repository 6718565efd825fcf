import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factsOf, type Part, replace } from './assemble.ts';
import { exchange } from './exchange.ts';
import type { Job } from './prepare.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-assemble-'));
afterAll(() => rmSync(base, { recursive: true }));
let places = 0;

const directoryOf = (parent: string, name: string, content: string): string => {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'file'), content);
  return path;
};
const holds = (path: string): string => readFileSync(join(path, 'file'), 'utf8');

describe('a finished bundle takes the place of the one before', () => {
  test('where there was none', () => {
    const place = join(base, String(places++));
    const fresh = directoryOf(place, 'fresh', 'new');
    replace(fresh, join(place, 'deep/bundle'));
    expect(holds(join(place, 'deep/bundle'))).toBe('new');
  });

  test('which is never away, however often somebody looks', async () => {
    const place = join(base, String(places++));
    const bundle = directoryOf(place, 'bundle', 'old');
    const fresh = directoryOf(place, 'own/bundle', 'new');
    // Without exchange (some network file systems) there is a moment without one, as the docstring says.
    if (!exchange(fresh, bundle)) throw new Error('this file system exchanges no directories');
    exchange(fresh, bundle);
    const looker = Bun.spawn([
      process.execPath,
      '-e',
      `const {existsSync}=require('fs'); let away=0; console.log('looking');
       const end=Date.now()+600; while(Date.now()<end) if(!existsSync(${JSON.stringify(join(bundle, 'file'))})) away++; console.log(away)`,
    ]);
    const said = looker.stdout.getReader();
    await said.read();
    for (let at = 0; at < 400; at++) replace(fresh, bundle);
    replace(fresh, bundle);
    const { value } = await said.read();
    expect(new TextDecoder().decode(value).trim()).toBe('0');
    expect(await looker.exited).toBe(0);
    expect([holds(bundle), holds(fresh)]).toEqual(['new', 'old']);
    expect(readdirSync(place).toSorted()).toEqual(['bundle', 'own']);
  });

  test('two that are not there are not exchanged', () =>
    expect(exchange(join(base, 'no'), join(base, 'nor'))).toBe(false));
});

test('paths of an artifact hold nothing of another', () => {
  const part = (name: string, ...paths: string[]): Part => ({
    fact: { name, kind: 'files', key: name, pins: {} },
    built: {
      directory: '',
      files: paths.map((path) => ({ path, size: 1, sha256: '', executable: false })),
    },
  });
  const many = (top: string): string[] => Array.from({ length: 9 }, (_, at) => `${top}/${at}`);
  const job = {
    asked: { source: { commit: 'c', recipe: 'r' }, arch: 'amd64' },
    recipeSha256: '',
    artifacts: [],
  } as unknown as Job;
  const facts = factsOf(job, [
    part('own', ...many('workloads'), 'lib/pod.mjs'),
    part('theirs', ...many('lib/x'), ...many('share/y/z')),
  ]);
  expect(facts.artifacts.map((one) => one.paths)).toEqual([
    ['workloads', 'lib/pod.mjs'],
    ['lib/x', 'share/y'],
  ]);
});

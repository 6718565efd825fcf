import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import type { Profile } from '../../schemas/profile.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-profile-'));
afterAll(() => rmSync(cwd, { recursive: true }));
const profile = (args: string[], stdin?: string) =>
  runTool(main, args, { cwd, ...(stdin === undefined ? {} : { stdin }) });

const PLAIN = ['--reference', 'sort data', '--candidate', 'sort -u data'];
const store = {
  name: 'mine',
  rule: 'mine',
  about: '',
  targets: [
    { name: 'a', role: 'pig', seed: ['a'], seedMeta: '{dir}/s', sample: ['a', '{turns}'] },
    { name: 'b', role: 'reference', seed: ['b'], seedMeta: '{dir}/s', sample: ['b'] },
  ],
};

describe('checks and prints', () => {
  test('what it made itself, from stdin', async () => {
    const made = await profile(PLAIN);
    expect(await profile(['-'], made.stdout)).toEqual({ exit: 0, stdout: made.stdout, stderr: '' });
  });

  test('a file; older words are read, and never written', async () => {
    writeFileSync(join(cwd, 'mine.json'), JSON.stringify(store));
    const { exit, stdout } = await profile(['mine.json']);
    expect([exit, (JSON.parse(stdout) as Profile).targets[0]!.role]).toEqual([0, 'candidate']);
  });

  test.each(['own-workload', 'plain-commands'])('the example %s', async (name) => {
    const path = join(import.meta.dir, `../../fixtures/profiles/${name}.json`);
    const { exit, stdout } = await profile([path]);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(JSON.parse(readFileSync(path, 'utf8')));
  });

  test.each(['durable-store', 'runtimes'])('the built-in %s', async (name) => {
    const { exit, stdout } = await profile([name]);
    expect([exit, (JSON.parse(stdout) as Profile).name]).toEqual([0, name]);
  });

  test('the list, as a table and as JSON', async () => {
    const listed = await profile(['--list']);
    const names = Object.keys(BUILT_IN);
    expect(names.slice(0, 3)).toEqual(['durable-store', 'runtimes', 'overhead-pi']);
    expect(listed.stdout.split('\n').map((line) => line.split('  ')[0])).toEqual([...names, '']);
    const json = JSON.parse((await profile(['--list', '--json'])).stdout) as { name: string }[];
    expect(json.map((one) => one.name)).toEqual(names);
  });
});

describe('refuses, with nothing on stdout', () => {
  const row = (change: object): string => JSON.stringify({ ...store, ...change });
  test.each<[string, string[], string, string?]>([
    ['nothing asked', [], 'nothing to do'],
    ['two things asked', ['durable-store', '--list'], "'durable-store' and '--list' exclude each other"],
    ['two kinds', [...PLAIN, '--old', 'a'], "'--reference' and '--old' exclude each other"],
    ['half of a comparison', ['--reference', 'a'], "'--candidate' is missing"],
    ['half of two commits', ['--old', 'a', '--build', 'make'], "'--new' is missing"],
    ['a flag without meaning', ['durable-store', '--repeat', '3'], "'--repeat' belongs to plain commands"],
    ['--json alone', ['durable-store', '--json'], "'--json' belongs to --list"],
    [
      'an unknown name',
      ['durable-stroe'],
      "no profile 'durable-stroe'; built in are durable-store, runtimes",
    ],
    ['a missing file', ['no/such.json'], "profile file 'no/such.json' does not exist"],
    ['a directory', ['.'], "can't read '.': it is a directory"],
    ['nothing on stdin', ['-'], 'stdin: expected JSON, found nothing', ''],
    ['no JSON', ['-'], 'stdin:2: expected JSON', '{\n"a": nope}'],
    ['an unknown key', ['-'], 'stdin: colour: unknown key', row({ colour: 1 })],
    [
      'no reference',
      ['-'],
      'expected exactly one reference, found 0',
      row({ targets: [store.targets[0], { ...store.targets[0], name: 'c' }] }),
    ],
    [
      'a name twice',
      ['--reference', 'a=x', '--candidate', 'a=y'],
      "expected a name used once, found 'a' again",
    ],
    ['a bad name', [...PLAIN, '--name', 'a b'], 'expected a name of'],
  ])('%s', async (...[, args, sentence, stdin]) => {
    const { exit, stdout, stderr } = await profile(args, stdin);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
  });
});

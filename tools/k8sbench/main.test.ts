import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pack from '../../package.json' with { type: 'json' };
import { FORMATS } from '../../schemas/formats.ts';
import { VERSION } from '../../shared/version.ts';
import { runTool } from '../../test/outside.ts';
import { main, tool } from './main.ts';
import { LINKS } from './pipelines.ts';
import { TOOLS } from './table.ts';

const root = resolve(import.meta.dir, '../..');

/** Paths of the modules that a call loads, in a process of its own. */
const loadedBy = (...args: string[]): string[] => {
  const script = `
    const { main } = await import(${JSON.stringify(join(import.meta.dir, 'main.ts'))});
    const sink = { write: async () => undefined, closed: false, isTerminal: false, columns: 80 };
    await main(${JSON.stringify(args)}, { cwd: '/', env: {}, stdout: sink, stderr: sink });
    console.log(JSON.stringify(Object.keys(require.cache)));`;
  const done = Bun.spawnSync([process.execPath, '-e', script]);
  expect(done.stderr.toString()).toBe('');
  return JSON.parse(done.stdout.toString()) as string[];
};

describe('the dispatcher', () => {
  test('help lists every tool with its line', async () => {
    for (const args of [['help'], ['--help'], ['-h'], ['-help']]) {
      const { exit, stdout, stderr } = await runTool(main, args);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(stdout).toBe(await tool.help());
      for (const [name, { about }] of Object.entries(TOOLS))
        expect(stdout).toMatch(new RegExp(`^  ${name} +${RegExp.escape(about)}$`, 'm'));
    }
  });

  test.each(Object.entries(TOOLS))(
    "%s: the table's line is the tool's own, and it answers",
    async (name, entry) => {
      const { tool: one } = await entry.load();
      expect({ name: one.name, about: one.about }).toEqual({ name, about: entry.about });
      const help = await runTool(main, [name, '--help']);
      expect(help).toEqual({ exit: 0, stdout: await one.help(), stderr: '' });
      expect(await runTool(main, ['help', name])).toEqual(help);
      expect((await runTool(main, [name, '--version'])).stdout).toBe(`k8sbench ${VERSION}\n`);
    },
  );

  test.each([
    [['--version'], 0, `k8sbench ${VERSION}\n`, ''],
    [['-version'], 0, `k8sbench ${VERSION}\n`, ''],
    [['run-sesion', '--run', 'x'], 2, '', "unknown tool 'run-sesion'; did you mean 'run-session'?"],
    [['toString'], 2, '', "unknown tool 'toString'"],
    [['help', 'nothing-like-it'], 2, '', "unknown tool 'nothing-like-it'"],
    [['help', 'schema', 'more'], 2, '', "unexpected argument 'more'"],
    [['--rounds', '3'], 2, '', "unknown flag '--rounds'; a tool comes first"],
    [[], 2, '', 'USAGE'],
  ] as const)('%j', async (args, exit, stdout, says) => {
    const ended = await runTool(main, args);
    expect({ exit: ended.exit as number, stdout: ended.stdout }).toEqual({ exit, stdout });
    expect(ended.stderr).toContain(says);
  });

  test('loads the tool that is called, and no other', () => {
    const tools = loadedBy('run-session', '--version').flatMap(
      (path) => /\/tools\/([^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(tools)].toSorted()).toEqual(['k8sbench', 'run-session']);
  });

  const track = join(root, 'fixtures/schemas/tracker/valid.jsonl');
  test.each([
    [['--version'], []],
    [['help'], []],
    [['profile', '--version'], ['valibot']],
    [
      ['plan', '--help'],
      ['citty', 'valibot'],
    ],
    [['tracker', 'show', '--track', track], ['valibot']],
    [['completion', 'bash', '--version'], []],
  ])('%j starts with the packages that it needs, and no others', (args, packages) => {
    const names = loadedBy(...args).flatMap(
      (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(names)].toSorted()).toEqual(packages);
  });
});

test('each tool with a folder is a command of the package', () => {
  const folders = Object.keys(TOOLS).filter((name) => existsSync(join(root, 'tools', name)));
  expect(folders.length).toBeGreaterThan(5);
  const commands = folders.map((name): [string, string] => [`k8sbench-${name}`, `tools/${name}/main.ts`]);
  expect(pack.bin).toEqual({ k8sbench: 'tools/k8sbench/main.ts', ...Object.fromEntries(commands) } as never);
  expect(readdirSync(join(root, 'tools')).toSorted()).toEqual(['k8sbench', ...folders].toSorted());
});

test.each(LINKS.map((link) => [link.tool.name, link] as const))(
  'what the pipelines leave out of %s is a flag of it',
  (_, { tool: one, leave }) => expect(Object.keys(one.flags)).toEqual(expect.arrayContaining([...leave])),
);

describe('schema', () => {
  test('lists the formats', async () => {
    const { exit, stdout } = await runTool(main, ['schema']);
    expect(exit).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]!),
    ).toEqual(Object.keys(FORMATS));
  });

  test.each(Object.keys(FORMATS))('%s has a JSON Schema that says what it is', async (name) => {
    const { exit, stdout, stderr } = await runTool(main, ['schema', name]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: expect.stringContaining(FORMATS[name]!.file),
    });
  });

  test('older words that are read, and rules beyond its reach, are in it', async () => {
    const profile = JSON.parse((await runTool(main, ['schema', 'profile'])).stdout);
    expect(profile.properties.targets.items.properties.role.enum).toContain('pig');
    expect(profile.$comment).toContain('rules that span fields');
    expect(profile.properties.targets.items.properties.command.$comment).toBe(
      'expected a program as first word',
    );
  });

  test('an unknown one is refused', async () => {
    const { exit, stdout, stderr } = await runTool(main, ['schema', 'profil']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain("found 'profil'");
  });
});

test('a calibration of a plain command needs no candidate: the reference stands for it', async () => {
  const { exit, stdout } = await runTool(main, [
    'calibrate',
    '--local',
    '--reference',
    'sort -n x',
    '--explain',
  ]);
  expect(exit).toBe(0);
  expect(stdout).toContain("k8sbench profile --reference 'sort -n x' --candidate 'sort -n x')");
  expect(stdout).toContain('k8sbench plan --mode calibrate --profile - --local');
});

import { afterAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifest } from '../schemas/manifest.ts';
import { spread } from '../schemas/spread.ts';
import { Failure } from './failure.ts';
import { sha256 } from './files.ts';
import { createRun, openRun, runDirectory, touchAll } from './rundir.ts';
import { realWorld, type World } from './world.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-rundir-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const outside = (stdin = ''): World => ({
  ...realWorld(),
  cwd: scratch,
  stdin: (async function* () {
    yield new TextEncoder().encode(stdin);
  })(),
});
const refused = async (given: string | undefined, stdin?: string): Promise<Failure> => {
  try {
    await openRun(given, outside(stdin));
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('what --run names', () => {
  mkdirSync(join(scratch, 'out', 'a run'), { recursive: true });
  mkdirSync(join(scratch, 'out', 'empty'));
  writeFileSync(join(scratch, 'out', 'a run', 'run.json'), '');
  writeFileSync(join(scratch, 'out', 'file'), '');

  test.each([
    ['out/a run', undefined],
    ['-', 'out/a run\n'],
    ['-', '\n  out/a run\r\n\n'],
    [join(scratch, 'out', 'a run'), undefined],
  ])('%j, stdin %j', async (given, stdin) => {
    const run = await openRun(given, outside(stdin));
    expect(run.path).toBe(join(scratch, 'out', 'a run'));
    expect(run.name).toBe('a run');
    expect(run.shown).toBe(given === '-' ? 'out/a run' : given);
  });

  test.each([
    [undefined, undefined, 2, "name it with '--run DIR'"],
    ['out/missing', undefined, 2, "run directory 'out/missing' does not exist; 'k8sbench plan' makes one"],
    ['out/empty', undefined, 2, "run directory 'out/empty' has no run.json; 'k8sbench plan' makes one"],
    ['out/file', undefined, 2, "did you mean 'out'?"],
    ['-', '', 1, 'the step before it failed'],
    ['-', 'a\nb\n', 2, 'found 2 lines'],
  ] as const)('%j, stdin %j is refused', async (given, stdin, exit, says) => {
    const failure = await refused(given, stdin);
    expect(failure.exit as number).toBe(exit);
    expect(failure.message).toContain(says);
  });

  test.each(['run.json', 'pod.log', 'pod.log.partial', 'results.jsonl', 'analysis.json'])(
    'a directory with nothing but %s is one; only whoever needs run.json refuses it',
    async (name) => {
      const path = join('out', `with ${name}`);
      mkdirSync(join(scratch, path));
      writeFileSync(join(scratch, path, name), '');
      const run = await openRun(path, outside());
      if (name === 'run.json') return;
      expect(() => run.json('run.json', manifest)).toThrow(
        `run directory '${path}' has no run.json; 'k8sbench plan' makes one`,
      );
    },
  );

  test('a directory of another kind is known by its own file', async () => {
    const open = (): Promise<unknown> => openRun('out/a run', outside(), ['trials.json']);
    await expect(open()).rejects.toThrow(
      "run directory 'out/a run' has no trials.json; 'k8sbench trials' makes one",
    );
    writeFileSync(join(scratch, 'out', 'a run', 'trials.json'), '');
    await open();
  });
});

test('a directory that may not be read is refused; nothing in it is called missing', () => {
  const closed = join(scratch, 'closed');
  mkdirSync(closed, { mode: 0o000 });
  const script = `
    const { openRun } = await import(${JSON.stringify(join(import.meta.dir, 'rundir.ts'))});
    const { realWorld } = await import(${JSON.stringify(join(import.meta.dir, 'world.ts'))});
    if (process.getuid() === 0) process.setuid(65534);
    await openRun('closed', { ...realWorld(), cwd: ${JSON.stringify(scratch)} }).then(
      () => console.log('opened'), (error) => console.log(error.message));`;
  chmodSync(scratch, 0o755);
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script]);
  // Whoever is no root could not remove it.
  chmodSync(closed, 0o755);
  expect(stdout.toString()).toBe("can't read run directory 'closed': permission denied\n");
});

test('a run directory is not made where a file is in the way', () => {
  writeFileSync(join(scratch, 'in-the-way'), '');
  for (const path of ['in-the-way', 'in-the-way/run']) {
    const made = (): unknown => createRun(join(scratch, path), path);
    expect(made).toThrow(
      `can't make the run directory '${path}': something on its path is a file; name another with '--out' or '--run'`,
    );
  }
});

test('a run directory reads, writes and digests its files; a missing one names its writer', async () => {
  const run = createRun(join(scratch, 'new', 'deep'), 'new/deep');
  const value = { format: 'spread/1', run: 'deep', over: 'sessions', children: [] };
  run.writeJson('spread.json', value);
  expect(readFileSync(run.file('spread.json'), 'utf8')).toBe(`${JSON.stringify(value, null, 2)}\n`);
  expect(run.json('spread.json', spread)).toEqual(value as never);
  run.write('pod.log', 'x');
  expect(run.has('pod.log')).toBe(true);
  expect(await run.digests(['pod.log', 'missing'])).toEqual({ 'pod.log': sha256('x') });
  expect(readdirSync(run.path).toSorted()).toEqual(['pod.log', 'spread.json']);
  expect(() => run.json('plan.json', manifest)).toThrow("'new/deep' has no plan.json; 'plan' writes it");
  expect(() => runDirectory(run.path).json('other', manifest)).toThrow('has no other');
  run.write('job.json', '{"format": 1}');
  expect(() => run.json('job.json', spread)).toThrow('new/deep/job.json');
});

test('outputs of a skipped step are touched, those that are not there are not made', () => {
  const run = createRun(join(scratch, 'touched'), 'touched');
  run.write('a', 'x');
  Bun.spawnSync(['touch', '-d', '2001-01-01', run.file('a')]);
  touchAll(run, ['a', 'b']);
  expect(statSync(run.file('a')).mtimeMs).toBeGreaterThan(Date.parse('2020-01-01'));
  expect(run.has('b')).toBe(false);
});

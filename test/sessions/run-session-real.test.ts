/** Sessions of the real pod program, planned by the real plan: killed, stopped, doubled, several in turn. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Job } from '../../schemas/job.ts';
import { isAlive } from '../../tools/run-session/processes.ts';
import { running } from './run-session-fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-real-'));
const temporary = join(scratch, 'tmp');
beforeAll(() => mkdirSync(temporary));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const k8sbench = resolve(import.meta.dir, '../../tools/k8sbench/main.ts');
const env = { ...process.env, TMPDIR: temporary, NO_COLOR: '1' };
const words = (args: readonly string[]): string[] => [process.execPath, k8sbench, ...args];
const start = (...args: string[]) =>
  Bun.spawn(words(args), { cwd: scratch, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
const run = (...args: string[]) => {
  const done = Bun.spawnSync(words(args), { cwd: scratch, env, stdin: 'ignore' });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};
const jobOf = (dir: string): Job => JSON.parse(readFileSync(join(scratch, dir, 'job.json'), 'utf8')) as Job;
const attempts = (out: string): unknown[] =>
  existsSync(join(scratch, out, 'attempts.jsonl'))
    ? readFileSync(join(scratch, out, 'attempts.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    : [];
const measuring = async (dir: string): Promise<NonNullable<Job['local']>> => {
  const path = join(scratch, dir, 'pod.log.partial');
  while (!existsSync(path) || !readFileSync(path, 'utf8').includes('"t":"sample"')) await Bun.sleep(10);
  return jobOf(dir).local!;
};
let made = 0;
/** A plan of two sleeping commands; each process of the run sleeps a length of its own, so that it can be found. */
const sleeping = (seconds: string): string[] => [
  '--local',
  '--reference',
  `sleep ${seconds}`,
  '--candidate',
  `sleep ${seconds}1`,
  '--rounds',
  '3',
  '--repeat',
  '2',
  '--max-cv',
  '9',
];

test('compare killed in the middle goes on with the same command, and the attempt stays visible', async () => {
  const out = `out-${made++}`;
  const args = ['compare', ...sleeping('0.2'), '--run', `${out}/killed`];
  const first = start(...args);
  const left = await measuring(`${out}/killed`);
  first.kill('SIGKILL');
  await first.exited;

  const again = run(...args);
  expect({ exit: again.exit, stderr: again.exit === 0 ? '' : again.stderr }).toEqual({ exit: 0, stderr: '' });
  expect(again.stderr).toContain('was killed: recorded as void, measured anew');
  expect(JSON.parse(again.stdout)).toMatchObject({ run: expect.stringContaining('killed') });
  expect(isAlive(left.pod!)).toBe(false);
  expect(running('sleep 0.2')).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
  expect(left.cgroup !== undefined && existsSync(left.cgroup)).toBe(false);
  expect(attempts(out)).toEqual([
    expect.objectContaining({ outcome: 'void', reasons: ['its runner was killed'] }),
    expect.objectContaining({ outcome: 'judged' }),
  ]);
  expect(existsSync(join(scratch, out, 'killed', 'pod.log.killed-1'))).toBe(true);
}, 60_000);

test('SIGTERM saves the log with the samples before it; nothing of the session is left', async () => {
  const out = `out-${made++}`;
  const session = start('compare', ...sleeping('0.3'), '--run', `${out}/stopped`);
  const left = await measuring(`${out}/stopped`);
  session.kill('SIGTERM');
  expect(await session.exited).toBe(130);
  expect(await new Response(session.stdout).text()).toBe('');
  const log = readFileSync(join(scratch, out, 'stopped', 'pod.log'), 'utf8')
    .trimEnd()
    .split('\n');
  const kinds = log.map((line) => (JSON.parse(line) as { t: string }).t);
  expect(kinds.slice(-2)).toEqual(['error', 'end']);
  expect(kinds).toContain('sample');
  expect(jobOf(`${out}/stopped`)).toMatchObject({
    outcome: 'interrupted',
    exit: 130,
    log: { lines: log.length - 1 },
  });
  expect(isAlive(left.pod!)).toBe(false);
  expect(running('sleep 0.3')).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
  expect(attempts(out)).toEqual([expect.objectContaining({ outcome: 'void', exit: 130 })]);
}, 60_000);

test('a second signal leaves at once, and the measured processes with it', async () => {
  const out = `out-${made++}`;
  const session = start('compare', ...sleeping('0.4'), '--run', `${out}/twice`);
  const left = await measuring(`${out}/twice`);
  session.kill('SIGINT');
  session.kill('SIGINT');
  expect(await session.exited).toBe(130);
  for (let tries = 0; tries < 200 && (isAlive(left.pod!) || running(/^sleep 0.41?$/).length > 0); tries++)
    await Bun.sleep(10);
  expect(isAlive(left.pod!)).toBe(false);
  expect(running(/^sleep 0.41?$/)).toEqual([]);
}, 60_000);

test('a second run-session is refused while the first measures', async () => {
  const out = `out-${made++}`;
  const first = start('compare', ...sleeping('0.5'), '--run', `${out}/once`);
  await measuring(`${out}/once`);
  const second = run('run-session', '--run', `${out}/once`);
  expect({ exit: second.exit, stdout: second.stdout }).toEqual({ exit: 1, stdout: '' });
  expect(second.stderr).toContain(`is being measured by process ${first.pid}`);
  first.kill('SIGTERM');
  expect(await first.exited).toBe(130);
}, 60_000);

test('several sessions: one line in the history, from all of them', () => {
  const out = `out-${made++}`;
  const { exit, stdout, stderr } = run(
    'compare',
    ...sleeping('0.01'),
    '--sessions',
    '2',
    '--run',
    `${out}/several`,
  );
  expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  // Three rounds of two processes, of which one is warm, in two sessions.
  expect(JSON.parse(stdout)).toMatchObject({ warmTurns: 6 });
  const spread = JSON.parse(readFileSync(join(scratch, out, 'several', 'spread.json'), 'utf8')) as {
    children: { dir: string; outcome: string }[];
  };
  expect(spread.children.map((one) => one.outcome)).toEqual(['done', 'done']);
  for (const { dir } of spread.children)
    expect(existsSync(join(scratch, out, 'several', dir, 'MANIFEST.sha256'))).toBe(true);
  expect(attempts(out)).toEqual([expect.objectContaining({ outcome: 'judged' })]);
  // A session left at once by a second signal, above, may have left its own.
  expect(readdirSync(temporary).filter((name) => name.includes('several'))).toEqual([]);
}, 60_000);

test('a workload that fails: exit 1, nothing on stdout, the cause and where the log is', () => {
  const out = `out-${made++}`;
  const { exit, stdout, stderr } = run(
    'compare',
    '--local',
    '--reference',
    'true',
    '--candidate',
    'false',
    '--rounds',
    '3',
    '--run',
    `${out}/broken`,
  );
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain(`'${out}/broken' failed: `);
  expect(stderr).toContain(`its log is '${out}/broken/pod.log'`);
  expect(jobOf(`${out}/broken`)).toMatchObject({ outcome: 'failed', exit: 1 });
  expect(attempts(out)).toEqual([expect.objectContaining({ outcome: 'failed', exit: 1 })]);
}, 60_000);

test('an output directory that can only be read', () => {
  const dir = join(scratch, `out-${made++}`);
  mkdirSync(dir, { mode: 0o555 });
  const asNobody =
    process.getuid!() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const done = Bun.spawnSync([...asNobody, ...words(['compare', ...sleeping('0.01'), '--out', dir])], {
    cwd: scratch,
    env,
  });
  expect(done.exitCode).toBe(1);
  expect(done.stdout.toString()).toBe('');
  expect(done.stderr.toString()).toContain('permission denied');
  expect(done.stderr.toString()).not.toContain('bug');
});

test('a build of a commit that is being measured from can not be removed; once it is over it can', async () => {
  const repository = join(scratch, 'repository');
  mkdirSync(repository);
  const own = { ...env, XDG_CACHE_HOME: join(scratch, 'cache') };
  const inRepository = (...args: string[]) => {
    const done = Bun.spawnSync(args, { cwd: repository, env: own, stdin: 'ignore' });
    return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
  };
  const git = (...args: string[]) =>
    inRepository('git', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args);
  git('init', '-q', '-b', 'main');
  for (const seconds of ['0.1', '0.11']) {
    writeFileSync(join(repository, 'app'), `#!/bin/sh\nsleep ${seconds}\n`, { mode: 0o755 });
    git('add', 'app');
    git('commit', '-qm', seconds);
  }
  const profile = inRepository(
    ...words([
      'profile',
      '--old',
      'main~1',
      '--new',
      'main',
      '--build',
      'true',
      '--sample',
      './app',
      '--repeat',
      '2',
    ]),
  );
  expect([profile.exit, profile.stderr.includes('error')]).toEqual([0, false]);
  writeFileSync(join(scratch, 'commits.json'), profile.stdout);
  const dir = `out-${made++}/commits`;
  expect(
    run('plan', '--local', '--profile', 'commits.json', '--rounds', '3', '--sessions', '2', '--run', dir)
      .exit,
  ).toBe(0);
  const session = start('run-session', '--run', dir);
  await measuring(`${dir}/commits-n1`);
  const refused = inRepository(...words(['profile', '--remove-builds']));
  expect([refused.exit, refused.stdout]).toEqual([0, '']);
  expect(refused.stderr.match(/is being measured from now; left alone/g)).toHaveLength(2);
  expect(await session.exited).toBe(0);
  expect(
    inRepository(...words(['profile', '--remove-builds']))
      .stdout.trim()
      .split('\n'),
  ).toHaveLength(2);
}, 60_000);

/** The runner as a process that is killed, stopped, doubled, hung up on, and whose output nobody reads. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job } from '../../schemas/job.ts';
import { isAlive } from '../../tools/run-session/processes.ts';
import { planByHand } from './run-session-fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-signals-'));
const temporary = join(scratch, 'tmp');
beforeAll(() => {
  mkdirSync(temporary, { mode: 0o777 });
  chmodSync(scratch, 0o777);
  chmodSync(temporary, 0o777);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
const plan = (children?: string[]): { dir: string; out: string } => {
  const out = join(scratch, `out-${made++}`);
  const more = children ? { children } : {};
  return { dir: planByHand(out, `sig-${made}`, { host: hostname(), ...more }), out };
};
const words = (fault: string, pause: number, dir: string, ...more: string[]): string[] => [
  process.execPath,
  join(import.meta.dir, 'run-session-program.ts'),
  fault,
  String(pause),
  '--run',
  dir,
  ...more,
];
const start = (fault: string, pause: number, dir: string) =>
  Bun.spawn(words(fault, pause, dir), {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, TMPDIR: temporary },
  });
const said = async (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();
const jobOf = (dir: string): Job => JSON.parse(readFileSync(join(dir, 'job.json'), 'utf8')) as Job;
const attempts = (out: string): unknown[] =>
  existsSync(join(out, 'attempts.jsonl'))
    ? readFileSync(join(out, 'attempts.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    : [];
/** Waits until the session has a sample, which is well in its middle. */
const measuring = async (dir: string): Promise<NonNullable<Job['local']>> => {
  const path = join(dir, 'pod.log.partial');
  while (!existsSync(path) || !readFileSync(path, 'utf8').includes('"sample"')) await Bun.sleep(10);
  return jobOf(dir).local!;
};

test('killed in the middle: recorded as void, cleaned up and measured anew by the same command', async () => {
  const { dir, out } = plan();
  const runner = start('hang', 0, dir);
  const left = await measuring(dir);
  runner.kill('SIGKILL');
  await runner.exited;
  expect(jobOf(dir).outcome).toBe('running');
  expect(readdirSync(temporary)).toHaveLength(1);
  writeFileSync(join(dir, `job.json.${crypto.randomUUID()}.tmp`), '{');

  const again = start('none', 0, dir);
  expect(await said(again.stderr)).toContain('was killed: recorded as void, measured anew');
  expect(await again.exited).toBe(0);
  expect(await said(again.stdout)).toBe(`${dir}\n`);
  expect(isAlive(left.pod!)).toBe(false);
  expect(left.cgroup !== undefined && existsSync(left.cgroup)).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(dir).toSorted()).toEqual([
    'MANIFEST.sha256',
    'job.json',
    'plan.json',
    'pod.log',
    'pod.log.killed-1',
    'profile.json',
    'run.json',
    'values.json',
  ]);
  expect(jobOf(dir)).toMatchObject({ outcome: 'done', exit: 0 });
  expect(attempts(out)).toEqual([
    expect.objectContaining({ outcome: 'void', exit: 130, reasons: ['its runner was killed'] }),
  ]);
});

test('killed in the second of several sessions: the first stays, the second is measured anew', async () => {
  const { dir, out } = plan(['sig-n1', 'sig-n2']);
  const [first, second] = [join(dir, 'sig-n1'), join(dir, 'sig-n2')];
  expect(await start('none', 0, first).exited).toBe(0);
  const kept = readFileSync(join(first, 'job.json'), 'utf8');
  const runner = start('hang', 0, dir);
  await measuring(second);
  runner.kill('SIGKILL');
  await runner.exited;
  const again = start('none', 0, dir);
  expect(await again.exited).toBe(0);
  expect(await said(again.stdout)).toBe(`${dir}\n`);
  expect(readFileSync(join(first, 'job.json'), 'utf8')).toBe(kept);
  expect(existsSync(join(second, 'pod.log.killed-1'))).toBe(true);
  expect(readdirSync(temporary)).toEqual([]);
  expect(attempts(out)).toEqual([expect.objectContaining({ outcome: 'void' })]);
  expect(existsSync(join(dir, 'attempts.jsonl'))).toBe(false);
});

test('a second one is refused while the first measures, and disturbs nothing', async () => {
  const { dir } = plan();
  const first = start('hang', 0, dir);
  await measuring(dir);
  const second = Bun.spawnSync(words('none', 0, dir, '--force'), {
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(second.exitCode).toBe(1);
  expect(second.stdout.toString()).toBe('');
  expect(second.stderr.toString()).toContain(`is being measured by process ${first.pid}`);
  expect(jobOf(dir)).toMatchObject({ outcome: 'running', runner: { pid: first.pid } });
  first.kill('SIGTERM');
  expect(await first.exited).toBe(130);
});

test('of several started at once, one measures', async () => {
  const { dir, out } = plan();
  const all = Array.from({ length: 5 }, () => start('hang', 0, dir));
  const refused: number[] = [];
  for (const one of all) void one.exited.then((status) => refused.push(status));
  while (refused.length < 4) await Bun.sleep(10);
  expect(refused).toEqual([1, 1, 1, 1]);
  const left = all.find((one) => one.exitCode === null);
  await measuring(dir);
  expect(jobOf(dir)).toMatchObject({ outcome: 'running', runner: { pid: left!.pid } });
  left!.kill('SIGTERM');
  expect(await left!.exited).toBe(130);
  expect(attempts(out)).toHaveLength(1);
});

describe('signals', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s saves the log and ends with 130', async (name) => {
    const { dir, out } = plan();
    const runner = start('hang', 0, dir);
    const left = await measuring(dir);
    runner.kill(name);
    expect(await runner.exited).toBe(130);
    expect(await said(runner.stdout)).toBe('');
    expect(readFileSync(join(dir, 'pod.log'), 'utf8')).toContain('"t":"end"');
    expect(jobOf(dir)).toMatchObject({ outcome: 'interrupted', exit: 130 });
    expect(attempts(out)).toHaveLength(1);
    expect(isAlive(left.pod!)).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('a second one leaves at once, and the session with it', async () => {
    const { dir } = plan();
    const runner = start('deaf', 5000, dir);
    const partial = join(dir, 'pod.log.partial');
    while (!existsSync(partial) || !readFileSync(partial, 'utf8').includes('"pin"')) await Bun.sleep(10);
    const left = jobOf(dir).local!;
    runner.kill('SIGTERM');
    await Bun.sleep(200);
    expect(isAlive(left.pod!)).toBe(true);
    runner.kill('SIGTERM');
    expect(await runner.exited).toBe(130);
    for (let tries = 0; tries < 100 && isAlive(left.pod!); tries++) await Bun.sleep(10);
    expect(isAlive(left.pod!)).toBe(false);
    const again = start('none', 0, dir);
    expect(await again.exited).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('a terminal that hangs up does not end the session', async () => {
    const { dir } = plan();
    const runner = start('none', 60, dir);
    await measuring(dir);
    runner.kill('SIGHUP');
    expect(await runner.exited).toBe(0);
    expect(jobOf(dir).outcome).toBe('done');
  });
});

test('nobody reads its output', () => {
  const { dir } = plan();
  const quoted = words('none', 0, dir)
    .map((word) => `'${word}'`)
    .join(' ');
  const shell = Bun.spawnSync(['bash', '-o', 'pipefail', '-c', `${quoted} | head -0`], {
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(shell.exitCode).toBe(0);
  expect(shell.stderr.toString()).not.toContain('error');
  expect(existsSync(join(dir, 'MANIFEST.sha256'))).toBe(true);
});

/** Root may write anywhere, so the runner is somebody else then. */
const asNobody = (one: string) =>
  Bun.spawnSync(
    process.getuid!() === 0
      ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...words('none', 0, one)]
      : words('none', 0, one),
    { env: { ...process.env, TMPDIR: temporary } },
  );

test('a run directory that can only be read is refused, and read when it is finished', async () => {
  const { dir } = plan();
  const { dir: finished } = plan();
  expect(await start('none', 0, finished).exited).toBe(0);
  for (const one of [dir, finished]) chmodSync(one, 0o555);
  for (const name of readdirSync(finished)) chmodSync(join(finished, name), 0o444);
  chmodSync(join(dir, 'run.json'), 0o444);
  const refused = asNobody(dir);
  expect(refused.stderr.toString()).toContain('permission denied');
  expect(refused.stderr.toString()).not.toContain('bug');
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout.toString()).toBe('');
  const read = asNobody(finished);
  expect(read.stderr.toString()).toContain('nothing to do');
  expect(read.exitCode).toBe(0);
  for (const one of [dir, finished]) chmodSync(one, 0o755);
});

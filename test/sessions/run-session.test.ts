/** The runner around a pod program whose faults are chosen: what it writes, says and cleans up. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job } from '../../schemas/job.ts';
import type { Spread } from '../../schemas/spread.ts';
import { main } from '../../tools/run-session/main.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { runDirectory } from '../../shared/rundir.ts';
import {
  type Fault,
  type Outside,
  outside,
  type Planned,
  planByHand,
  podProgram,
  running,
} from './run-session-fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-runner-'));
const temporary = join(scratch, 'tmp');
beforeAll(() => mkdirSync(temporary));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
const plan = (options?: Planned): { dir: string; out: string; name: string } => {
  const out = join(scratch, `out-${made++}`);
  const name = `run-${made}`;
  return { dir: planByHand(out, name, options), out, name };
};
const world = (fault?: Fault, more: Parameters<typeof outside>[1] & { pause?: number } = {}): Outside =>
  outside(podProgram(fault, more.pause ?? 0), {
    ...more,
    env: { PATH: process.env['PATH']!, TMPDIR: temporary, ...more.env },
  });
const jobOf = (dir: string): Job => JSON.parse(readFileSync(join(dir, 'job.json'), 'utf8')) as Job;
const attempts = (out: string): Record<string, unknown>[] =>
  existsSync(join(out, 'attempts.jsonl'))
    ? readFileSync(join(out, 'attempts.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
/** Nothing of a session is left on the machine. */
const nothingLeft = (): void => {
  expect(readdirSync(temporary)).toEqual([]);
  for (const hierarchy of ['cpuacct', 'cpu,cpuacct', 'unified', ''])
    if (existsSync(join('/sys/fs/cgroup', hierarchy)))
      expect(
        readdirSync(join('/sys/fs/cgroup', hierarchy)).filter((one) => one.includes('k8sbench-run-')),
      ).toEqual([]);
};

describe('a session that goes well', () => {
  test('is kept, verified, and leaves nothing behind', async () => {
    const { dir, out } = plan({ cwd: scratch });
    const here = world('foreign');
    expect(await main(['--run', dir], here)).toBe(0);
    expect(here.out()).toBe(`${dir}\n`);
    expect(readdirSync(dir).toSorted()).toEqual(
      [
        'MANIFEST.sha256',
        'job.json',
        'plan.json',
        'pod.log',
        'profile.json',
        'run.json',
        'values.json',
      ].toSorted(),
    );
    expect(
      Bun.spawnSync(['sha256sum', '--check', '--strict', '--quiet', 'MANIFEST.sha256'], { cwd: dir })
        .exitCode,
    ).toBe(0);
    expect(
      readFileSync(join(dir, 'MANIFEST.sha256'), 'utf8')
        .split('\n')
        .map((line) => line.slice(66))
        .join(' '),
    ).toBe('job.json plan.json pod.log profile.json run.json values.json ');
    const log = readFileSync(join(dir, 'pod.log'), 'utf8');
    const { timeline, ...job } = jobOf(dir);
    expect(job).toEqual({
      format: 'job/1',
      run: expect.any(String),
      delivery: 'local',
      host: 'here',
      outcome: 'done',
      exit: 0,
      log: {
        lines: JSON.parse(log.trimEnd().split('\n').at(-1)!).lines,
        bytes: expect.any(Number),
        sha256: JSON.parse(log.trimEnd().split('\n').at(-1)!).sha256,
        foreignLines: 1,
      },
    });
    expect(timeline.map((one) => one.event)).toEqual(['claimed', 'started', 'measuring', 'ended']);
    expect(JSON.parse(log.split('\n')[0]!)).toMatchObject({
      cwd: scratch,
      env: {
        K8SBENCH_DELIVERY: 'local',
        K8SBENCH_ROOT: null,
        NODE_NAME: 'here',
        POD_NAME: null,
        K8SBENCH_PLAN: null,
      },
    });
    expect(here.err()).toContain('pod: \\e[31mmeasuring\n');
    expect(attempts(out)).toEqual([]);
    nothingLeft();
  });

  test('has the name that its run was planned with, whatever its directory is called', async () => {
    const { dir, out, name } = plan();
    const renamed = join(out, 'renamed');
    renameSync(dir, renamed);
    expect(await main(['--run', renamed], world('crash'))).toBe(1);
    expect([jobOf(renamed).run, ...attempts(out).map((one) => one['run'])]).toEqual([name, name]);
    nothingLeft();
  });

  test('is skipped the second time, touched, and measured again with --force', async () => {
    const { dir } = plan();
    expect(await main(['--run', dir], world())).toBe(0);
    const before = readFileSync(join(dir, 'pod.log'), 'utf8');
    Bun.spawnSync([
      'touch',
      '-d',
      '2001-01-01',
      ...['pod.log', 'MANIFEST.sha256', 'job.json'].map((one) => join(dir, one)),
    ]);
    const again = world('crash');
    expect(
      await main(['--run', '-'], { ...again, stdin: world(undefined, { stdin: `${dir}\n` }).stdin }),
    ).toBe(0);
    expect(again.out()).toBe(`${dir}\n`);
    expect(again.err()).toContain('nothing to do');
    expect(statSync(join(dir, 'MANIFEST.sha256')).mtimeMs).toBeGreaterThan(Date.parse('2020-01-01'));
    const forced = world();
    expect(await main(['--run', dir, '--force', '--json'], forced)).toBe(0);
    expect(JSON.parse(forced.out())).toMatchObject({ format: 'job/1', outcome: 'done' });
    expect(readFileSync(join(dir, 'pod.log.done-1'), 'utf8')).toBe(before);
    expect(await manifestProblems(runDirectory(dir), [])).toEqual([]);
  });

  test('keeps its fixtures when asked, privately, and says where', async () => {
    const { dir, name } = plan();
    const here = world();
    expect(await main(['--run', dir, '--keep'], here)).toBe(0);
    const [kept] = readdirSync(temporary);
    expect(kept).toStartWith(`k8sbench-${name}-`);
    expect(statSync(join(temporary, kept!)).mode & 0o777).toBe(0o700);
    expect(here.err()).toContain(join(temporary, kept!));
    expect(jobOf(dir)).toMatchObject({ local: { data: join(temporary, kept!) } });
    rmSync(join(temporary, kept!), { recursive: true });
    nothingLeft();
  });

  test('is shown on one line of a terminal, and on few lines elsewhere', async () => {
    const terminal = world(undefined, { terminal: true });
    expect(await main(['--run', plan().dir], terminal)).toBe(0);
    expect(terminal.err()).toContain('\r');
    expect(terminal.err()).toMatch(/3 of 3 rounds done, CV of old's warm 0\.[0-9] %\u001b\[K\n/);
    const plain = world();
    expect(await main(['--run', plan({ rounds: 50 }).dir], plain)).toBe(0);
    expect(plain.err()).toContain('2026-01-02T03:04:05.000Z seed 2 of 2');
    expect(plain.err()).not.toContain('\r');
    expect(plain.err().split('\n').length).toBeLessThan(6);
  });
});

test.each(['--detach', '--settle=3s', '--read-kubelet-config', '--edited-manifest'])(
  '%s is refused for a run on this machine, before anything happens',
  async (flag) => {
    const { dir } = plan();
    const here = world();
    expect(await main(['--run', dir, flag], here)).toBe(2);
    expect(here.err()).toContain(`flag '${flag.split('=')[0]}' is for a session in a cluster`);
    expect(existsSync(join(dir, 'job.json'))).toBe(false);
  },
);

describe('a session that does not', () => {
  test.each<[Fault, number, string, string, string]>([
    ['error', 1, 'failed', "target 'new' failed", 'pod.log'],
    ['invalid', 5, 'invalid', "target 'new' failed", 'pod.log'],
    ['bad-plan', 2, 'failed', 'the plan asks for cores that do not exist', 'pod.log'],
    [
      'crash',
      1,
      'failed',
      'the pod program ended with status 139: segmentation fault, or so',
      'pod.log.partial',
    ],
    ['no-end', 1, 'failed', 'its log is not whole: it ends after seq', 'pod.log.partial'],
    ['altered', 1, 'failed', 'its log is not whole: its text was altered', 'pod.log.partial'],
  ])('%s: exit %d, outcome %s', async (fault, exit, outcome, message, log) => {
    const { dir, out, name } = plan();
    const here = world(fault);
    expect(await main(['--run', dir], here)).toBe(exit as 1);
    expect(here.out()).toBe(exit === 5 ? `${dir}\n` : '');
    expect(here.err()).toContain(message);
    if (exit !== 5) expect(here.err()).toContain(`'${dir}/${log}'`);
    expect(jobOf(dir)).toMatchObject({ outcome, exit, message: expect.stringContaining(message) });
    expect(jobOf(dir)).not.toHaveProperty('runner');
    expect(jobOf(dir)).not.toHaveProperty('local');
    expect(existsSync(join(dir, log))).toBe(true);
    expect(existsSync(join(dir, 'MANIFEST.sha256'))).toBe(false);
    expect(attempts(out)).toEqual([
      expect.objectContaining({ run: name, outcome, exit, reasons: [expect.stringContaining(message)] }),
    ]);
    nothingLeft();
    // The same command measures it anew; what was measured before is kept.
    expect(await main(['--run', dir], world())).toBe(0);
    expect(existsSync(join(dir, `pod.log.${outcome}-1`))).toBe(true);
    expect(attempts(out)).toHaveLength(1);
  });

  test('interrupted: the log is saved, and what it started is gone', async () => {
    const { dir, out } = plan();
    const here = world('hang');
    const ending = main(['--run', dir], here);
    while (
      !existsSync(join(dir, 'pod.log.partial')) ||
      !readFileSync(join(dir, 'pod.log.partial'), 'utf8').includes('"sample"')
    )
      await Bun.sleep(10);
    expect(jobOf(dir)).toMatchObject({ outcome: 'running', runner: { pid: process.pid } });
    here.interrupt('SIGINT');
    expect(await ending).toBe(130);
    expect(here.out()).toBe('');
    expect(here.err()).toContain('stopped by SIGINT');
    expect(readFileSync(join(dir, 'pod.log'), 'utf8')).toContain('"t":"end"');
    expect(jobOf(dir)).toMatchObject({ outcome: 'interrupted', exit: 130 });
    expect(attempts(out)).toEqual([expect.objectContaining({ outcome: 'void', exit: 130 })]);
    nothingLeft();
  });

  test('a process that the session left behind is gone, though it holds the log open', async () => {
    const { dir } = plan();
    const before = running('sleep 600');
    expect(await main(['--run', dir], world('child-stays'))).toBe(0);
    expect(running('sleep 600')).toEqual(before);
    nothingLeft();
  }, 20_000);

  test('a pod program that is not there', async () => {
    const { dir, out } = plan();
    const here = outside(['/nowhere/pod'], { env: { TMPDIR: temporary } });
    expect(await main(['--run', dir], here)).toBe(1);
    expect(here.err()).toContain("can't start the pod program '/nowhere/pod': it does not exist");
    expect(jobOf(dir).outcome).toBe('failed');
    expect(attempts(out)).toHaveLength(1);
    nothingLeft();
  });
});

const refused = async (dir: string, here: Outside, exit: number, says: string): Promise<void> => {
  expect(await main(['--run', dir], here)).toBe(exit as 1);
  expect(here.out()).toBe('');
  expect(here.err()).toContain(says);
  expect(existsSync(join(dir, 'pod.log'))).toBe(false);
  nothingLeft();
};

describe('what is refused before anything starts', () => {
  test.each<[string, Planned, number, string]>([
    ['a cluster without a manifest', { delivery: 'image' }, 1, "has no manifest.yaml; 'render' writes it"],
    ['another machine', { host: 'elsewhere' }, 2, "was planned on 'elsewhere', this is 'here'"],
    ['a directory that is gone', { cwd: '/nowhere' }, 1, "'/nowhere'"],
    [
      'a program that is gone',
      { programs: { new: '/nowhere/x', old: process.execPath } },
      1,
      "'/nowhere/x', which target 'new' of",
    ],
  ])('%s', (_, options, exit, says) => refused(plan(options).dir, world(), exit, says));

  test('a plan that was changed', async () => {
    const { dir } = plan();
    writeFileSync(join(dir, 'profile.json'), '{}');
    await refused(dir, world(), 1, "profile.json' is not the file that 'plan' wrote");
    expect(existsSync(join(dir, 'job.json'))).toBe(false);
  });

  test('no place for the fixtures', () =>
    refused(plan().dir, outside(podProgram(), { env: { TMPDIR: '/nowhere' } }), 1, 'set TMPDIR'));

  test('a finished run that was changed', async () => {
    const { dir } = plan();
    expect(await main(['--run', dir], world())).toBe(0);
    writeFileSync(join(dir, 'pod.log'), 'x');
    const here = world();
    expect(await main(['--run', dir], here)).toBe(1);
    expect(here.err()).toContain(`'${dir}/pod.log' was changed`);
    rmSync(join(dir, 'pod.log'));
    const gone = world();
    expect(await main(['--run', dir], gone)).toBe(1);
    expect(gone.err()).toContain(`'${dir}/pod.log' is gone`);
  });

  test('a finished run of which one session was changed', async () => {
    const { dir } = plan({ children: ['one', 'two'] });
    expect(await main(['--run', dir], world())).toBe(0);
    const child = `${dir}/two`;
    writeFileSync(join(child, 'pod.log'), 'x');
    const here = world();
    expect(await main(['--run', dir], here)).toBe(1);
    expect(here.err()).toContain(`'${child}/pod.log' was changed`);
  });

  test('what is no run directory', async () => {
    for (const [args, says] of [
      [[], 'no run directory'],
      [['--run', join(scratch, 'missing')], 'does not exist'],
      [['--run', temporary], "has no run.json; 'k8sbench plan' makes one"],
      [['--rum', temporary], "did you mean '--run'"],
    ] as const) {
      const here = world();
      expect(await main(args, here)).toBe(2);
      expect(here.err()).toContain(says);
      expect(here.out()).toBe('');
    }
  });
});

describe('several sessions', () => {
  test('are measured in turn, each with new fixtures; the parent has its own manifest', async () => {
    const { dir } = plan({ children: ['many-n1', 'many-n2'] });
    const here = world();
    expect(await main(['--run', dir], here)).toBe(0);
    expect(here.out()).toBe(`${dir}\n`);
    const spread = JSON.parse(readFileSync(join(dir, 'spread.json'), 'utf8')) as Spread;
    expect(spread).toMatchObject({
      over: 'sessions',
      children: [
        { run: 'many-n1', dir: 'many-n1', outcome: 'done' },
        { run: 'many-n2', dir: 'many-n2', outcome: 'done' },
      ],
    });
    expect(
      Bun.spawnSync(['sha256sum', '--check', '--strict', '--quiet', 'MANIFEST.sha256'], { cwd: dir })
        .exitCode,
    ).toBe(0);
    expect(readFileSync(join(dir, 'MANIFEST.sha256'), 'utf8')).toContain('  many-n2/MANIFEST.sha256\n');
    expect(existsSync(join(dir, 'many-n1', 'pod.log'))).toBe(true);
    nothingLeft();
  });

  test('stop at the first failure; a rerun continues with what is not done', async () => {
    const { dir, out, name } = plan({ children: ['some-n1', 'some-n2', 'some-n3'] });
    let calls = 0;
    const here = world();
    const second = { ...here, program: () => podProgram(++calls === 2 ? 'error' : undefined) };
    expect(await main(['--run', dir], second)).toBe(1);
    expect(here.err()).toContain("target 'new' failed");
    expect(here.out()).toBe('');
    const outcomes = (): string[] =>
      (JSON.parse(readFileSync(join(dir, 'spread.json'), 'utf8')) as Spread).children.map(
        (one) => one.outcome,
      );
    expect(outcomes()).toEqual(['done', 'failed', 'planned']);
    expect(attempts(out)).toEqual([expect.objectContaining({ run: name, outcome: 'failed' })]);
    expect(existsSync(join(dir, 'attempts.jsonl'))).toBe(false);
    const first = readFileSync(join(dir, 'some-n1', 'job.json'), 'utf8');
    calls = 10;
    expect(await main(['--run', dir], second)).toBe(0);
    expect(calls).toBe(12);
    expect(outcomes()).toEqual(['done', 'done', 'done']);
    expect(readFileSync(join(dir, 'some-n1', 'job.json'), 'utf8')).toBe(first);
    expect(existsSync(join(dir, 'some-n2', 'pod.log.failed-1'))).toBe(true);
    expect(await main(['--run', dir], second)).toBe(0);
    expect(calls).toBe(12);
  });
});

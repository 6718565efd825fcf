/** Sessions that the outside disturbs: signals, readers, quotas, neighbours, other hands on the affinity. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { constants, existsSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Cgroup, locateCgroup } from '../../shared/cgroup.ts';
import { machineAt } from '../../shared/machine.ts';
import {
  errorOf,
  linesOf,
  only,
  OTHER,
  PIN,
  place,
  planOf,
  run,
  RUNTIMES,
  type Runtime,
  start,
  type Started,
  until,
  setUp,
  cleanUp,
  root,
  bundled,
} from './pod-runs.ts';

setDefaultTimeout(60_000);
beforeAll(setUp);
afterAll(cleanUp);
const machine = machineAt('/');
const BOTH: Runtime[] = ['bun', 'node24'];

/** Whether a process with this id is there and not dead. */
const isAlive = (pid: number): boolean => {
  const stat = machine.read(`/proc/${pid}/stat`);
  return typeof stat === 'string' && !/\) [ZX] /.test(stat);
};

/** The measured process that a session runs now: the first in a session of its own below the harness. */
const measuredBy = (harness: number): number | undefined => {
  const children = (machine.word(`/proc/${harness}/task/${harness}/children`) ?? '')
    .split(' ')
    .filter(Boolean);
  return children
    .map(Number)
    .find((pid) => /[w]\0(hang|slow|stubborn)/.test(machine.read(`/proc/${pid}/cmdline`) ?? ''));
};

const measuring = async ({ child }: Started): Promise<number> => {
  await until(() => measuredBy(child.pid) !== undefined);
  return measuredBy(child.pid)!;
};

/** A data directory that goes with the place, whatever kills the session. */
const dataOf = (runtime: Runtime): string => join(place, `outside-${runtime}`);

/** Rounds that go well, then one that hangs. */
const hangingLater = () => {
  const plan = planOf(['good']);
  plan.profile.targets[0]!.sample = [
    'sh',
    '-c',
    'test {sample} -lt 1 && exec {root}/w good; exec {root}/w stubborn',
  ];
  return plan;
};

describe.each(BOTH)('on %s', (runtime) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    test(`${signal}: the sample in flight is lost, nothing else`, async () => {
      const started = start(runtime, hangingLater());
      const measured = await measuring(started);
      started.child.kill(signal);
      const result = await started.result;
      expect({ exit: result.exit, complete: result.complete }).toEqual({ exit: 130, complete: true });
      expect(errorOf(result)).toMatchObject({ code: 'interrupted' });
      expect(errorOf(result)!['message']).toContain(signal);
      expect(result.lines.slice(-2).map((line) => line.t)).toEqual(['error', 'end']);
      // Round 0 of both and, as round 1 begins with the other target, its sample.
      expect(only(result.lines, 'sample').map((line) => line['target'])).toEqual([
        'tested',
        'steady',
        'steady',
      ]);
      expect(isAlive(measured)).toBe(false);
    });

  test('SIGTERM before the first step ends it just so', async () => {
    const started = start(runtime, planOf(['good'], { pin: 'auto', cpus: 1 }));
    // With a choice of cores the session watches them for a second.
    await Bun.sleep(OTHER ? 700 : 0);
    started.child.kill('SIGTERM');
    const result = await started.result;
    // 143: it had not begun to listen.
    expect([0, 130, 143]).toContain(result.exit);
    expect(result.complete || result.lines.length === 0).toBe(true);
  });

  test('SIGTERM while it waits for its plan', async () => {
    const program = [
      [RUNTIMES[runtime], bundled],
      [process.execPath, fileURLToPath(new URL('../../tools/pod/main.ts', import.meta.url))],
    ];
    for (const words of program) {
      const child = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
      // SIGHUP, the last of its handlers, is caught.
      await until(() => /^SigCgt:\s*\w*[13579bdf]$/m.test(machine.read(`/proc/${child.pid}/status`) ?? ''));
      child.kill('SIGTERM');
      const log = await new Response(child.stdout).text();
      expect(await child.exited).toBe(130);
      expect(linesOf(log)).toMatchObject({
        complete: true,
        lines: [{ t: 'error', code: 'interrupted' }, { t: 'end' }],
      });
    }
  });

  test('the reader is gone: it stops, and leaves nothing', async () => {
    const file = join(place, `reader-${runtime}.pids`);
    const plan = planOf(['good']);
    plan.profile.targets[0]!.sample = ['sh', '-c', `echo $$ >> ${file}; exec {root}/w slow 0.1`];
    const shell = Bun.spawn(
      ['bash', '-c', '"$0" "$1" | head -n 6; echo "${PIPESTATUS[0]}"', RUNTIMES[runtime], bundled],
      {
        env: {
          ...process.env,
          K8SBENCH_PLAN: JSON.stringify(plan),
          K8SBENCH_ROOT: root,
          K8SBENCH_DATA: dataOf(runtime),
        },
        stdout: 'pipe',
      },
    );
    const output = (await new Response(shell.stdout).text()).trim().split('\n');
    expect(output.pop()).toBe('1');
    expect(output.length).toBe(6);
    for (const pid of readFileSync(file, 'utf8').trim().split('\n')) expect(isAlive(Number(pid))).toBe(false);
  });

  test('a reader that stands still does not make it deaf to signals', async () => {
    const fifo = join(place, `still-${runtime}`);
    spawnSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const child = Bun.spawn(['sh', '-c', 'exec "$0" "$1" > "$2"', RUNTIMES[runtime], bundled, fifo], {
      env: {
        ...process.env,
        K8SBENCH_PLAN: JSON.stringify(planOf(['wide'])),
        K8SBENCH_ROOT: root,
        K8SBENCH_DATA: dataOf(runtime),
      },
    });
    // A sample of 300 kB doesn't fit into the pipe.
    await Bun.sleep(1500);
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');
    expect(await child.exited).toBe(130);
    expect(reader).toBeGreaterThan(0);
  });

  test('killed outright, its log has whole lines up to the sample in flight', async () => {
    const log = join(place, `killed-${runtime}.log`);
    const env = {
      ...process.env,
      K8SBENCH_PLAN: JSON.stringify(hangingLater()),
      K8SBENCH_ROOT: root,
      K8SBENCH_DATA: dataOf(runtime),
    };
    const child = Bun.spawn(['sh', '-c', 'exec "$0" "$1" > "$2"', RUNTIMES[runtime], bundled, log], {
      env,
    });
    await until(() => measuredBy(child.pid) !== undefined);
    const measured = measuredBy(child.pid)!;
    child.kill('SIGKILL');
    await child.exited;
    process.kill(-measured, 'SIGKILL');
    const { lines, complete } = linesOf(readFileSync(log, 'utf8'));
    expect(complete).toBe(false);
    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, at) => at));
    expect(only(lines, 'sample').length).toBe(3);
  });

  // With one core the hand can't change anything.
  test(`somebody else's hand on the session's affinity ${OTHER ? 'voids it' : 'that sets what it has is nothing'}`, async () => {
    const started = start(runtime, planOf(['slow', '0.3']));
    await measuring(started);
    spawnSync('taskset', ['-cp', OTHER ?? PIN, String(started.child.pid)]);
    const result = await started.result;
    if (!OTHER)
      return expect({ exit: result.exit, error: errorOf(result) }).toEqual({ exit: 0, error: undefined });
    expect(result.exit).toBe(5);
    expect(result.complete).toBe(true);
    expect(errorOf(result)).toMatchObject({ code: 'affinity', invalid: true });
    expect(errorOf(result)!['message']).toContain("the session's allowed cores changed");
  });

  test('without a cgroup of its own it says so, and still finds what is left behind', async () => {
    // In a pod the container's cgroup counts; here that is the whole machine's.
    const env = { K8SBENCH_DELIVERY: 'bundle' };
    const good = await run(runtime, planOf(['burn', '20000']), { env });
    expect(good.exit).toBe(0);
    const { cpuAccounting, cpuAccountingReason } = good.lines[0]!;
    if (cpuAccounting !== 'cgroup') {
      expect(cpuAccounting).toBe(runtime === 'bun' ? 'process' : 'none');
      expect(cpuAccountingReason).toBeString();
      for (const line of only(good.lines, 'cpu'))
        if (runtime === 'bun') expect(line['usageUsec']).toBeGreaterThan(0);
        else expect(line['usageUsec']).toBeNull();
    }
    for (const mode of ['fork', 'holder', 'daemon']) {
      const result = await run(runtime, planOf([mode]), { env });
      expect({ exit: result.exit, code: errorOf(result)?.['code'] }).toEqual({
        exit: 1,
        code: 'left-behind',
      });
    }
  });
});

/** A cgroup made for a test, in the hierarchies of CPU time and quota; absent where none can be made. */
interface MadeCgroup {
  /** The part that a quota is set on. */
  cpu: string;
  /** Words before a command that is to run in it. */
  wrapper: string[];
  remove(): void;
}

/** A cgroup for sessions; undefined where none can be made, or `words` can't be started in it. */
const makeCgroup = (
  cgroup: Cgroup,
  name: string,
  quota: boolean,
  words: readonly string[] = [],
): MadeCgroup | undefined => {
  if (!cgroup.cpu || !cgroup.usage) return undefined;
  const cpu = `${cgroup.cpu.dir}/k8sbench-${name}-${process.pid}`;
  const dirs = [...new Set([cpu, `${cgroup.usage.dir}/k8sbench-${name}-${process.pid}`])];
  const enter = dirs.map((dir) => `echo $$ > ${dir}/cgroup.procs`).join(' && ');
  const wrapper = ['sh', '-c', `${enter} && exec "$@"`, 'sh', ...words];
  const remove = (): void => dirs.filter((dir) => existsSync(dir)).forEach((dir) => rmdirSync(dir));
  try {
    for (const dir of dirs) mkdirSync(dir);
    if (quota && cgroup.cpu.version === 2) writeFileSync(`${cpu}/cpu.max`, '10000 100000');
    if (quota && cgroup.cpu.version === 1) {
      writeFileSync(`${cpu}/cpu.cfs_period_us`, '100000');
      writeFileSync(`${cpu}/cpu.cfs_quota_us`, '10000');
    }
    if (spawnSync(wrapper[0]!, [...wrapper.slice(1), 'true']).status === 0) return { cpu, wrapper, remove };
  } catch {
    // Read-only, or another's.
  }
  remove();
  return undefined;
};

describe('in a cgroup with a CPU quota', () => {
  let made: MadeCgroup | undefined;
  beforeAll(() => void (made = makeCgroup(locateCgroup(machine), 'quota', true)));
  afterAll(() => made?.remove());

  for (const runtime of BOTH)
    test(`${runtime}: the throttling shows`, async () => {
      const options = made ? { wrapper: made.wrapper } : {};
      const { exit, lines } = await run(runtime, planOf(['burn', '100000']), options);
      expect(exit).toBe(0);
      if (!made) return expect(lines[0]!['cpuMax']).not.toBe('10000 100000');
      expect(lines[0]).toMatchObject({ cpuMax: '10000 100000', cpuStatOf: made.cpu });
      const burnt = only(lines, 'cpu').filter(
        (line) => line['target'] === 'tested' && line['step'] === 'sample',
      );
      // A busy machine may hold one of them back by itself, before the quota does.
      const sum = (key: string): number => burnt.reduce((all, line) => all + (line[key] as number), 0);
      expect(sum('nrThrottled')).toBeGreaterThan(0);
      expect(sum('throttledUsec')).toBeGreaterThan(0);
      for (const line of burnt) {
        expect(line['nrPeriods']).toBeGreaterThan(0);
        // Throttled, it lives longer than it works.
        expect(line['usageUsec']).toBeLessThan((line['wallMs'] as number) * 1000);
      }
    });
});

describe('as the first process of a container', () => {
  let made: MadeCgroup | undefined;
  const first = ['unshare', '--pid', '--fork', '--mount-proc'];
  beforeAll(() => void (made = makeCgroup(locateCgroup(machine), 'container', false, first)));
  afterAll(() => made?.remove());

  for (const runtime of BOTH)
    test(`${runtime}: the container's cgroup counts, and what becomes an orphan in it is found`, async () => {
      const options = { ...(made ? { wrapper: made.wrapper } : {}), env: { K8SBENCH_DELIVERY: 'bundle' } };
      const good = await run(runtime, planOf(['good']), options);
      expect(good.exit).toBe(0);
      if (made) expect(good.lines[0]).toMatchObject({ cpuAccounting: 'cgroup', delivery: 'bundle' });
      for (const mode of made ? ['daemon', 'scrubbed'] : ['daemon']) {
        const result = await run(runtime, planOf([mode]), options);
        expect({ exit: result.exit, code: errorOf(result)?.['code'] }).toEqual({
          exit: 1,
          code: 'left-behind',
        });
      }
    });
});

describe('beside a busy neighbour', () => {
  for (const runtime of BOTH)
    test(`${runtime}: the session ends, and shows the pressure where the machine counts it`, async () => {
      const spinner = Bun.spawn(['taskset', '-c', PIN, 'sh', '-c', 'while :; do :; done']);
      try {
        const { exit, lines } = await run(runtime, planOf(['burn', '300000']));
        expect(exit).toBe(0);
        expect(only(lines, 'sample').length).toBe(6);
        for (const line of only(lines, 'cpu').filter(
          (one) => one['step'] === 'sample' && one['target'] === 'tested',
        )) {
          if (line['psiCpuSomeUsec'] !== undefined) expect(line['psiCpuSomeUsec']).toBeGreaterThan(0);
          if (line['usageUsec'] !== null)
            expect(line['usageUsec']).toBeLessThan((line['wallMs'] as number) * 1000);
        }
      } finally {
        spinner.kill('SIGKILL');
      }
    });
});

/** Whole sessions of 12 rounds through `compare` and `calibrate`, on a machine as it is, throttled, busy, and with workloads that misbehave. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { cpuQuota, locateCgroup } from '../../shared/cgroup.ts';
import { allowedListOf, parseCpuList } from '../../shared/cpu-list.ts';
import { machineAt } from '../../shared/machine.ts';
import { unfit } from '../run-files.ts';

const k8sbench = resolve(import.meta.dir, '../../tools/k8sbench/main.ts');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-whole-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
interface Done {
  exit: number;
  stdout: string;
  stderr: string;
  /** The run's directory; the one of the newest run. */
  run: string;
  out: string;
}
const run = (args: string[], before: string[] = []): Done => {
  const cwd = join(scratch, `work-${made++}`);
  mkdirSync(cwd);
  const done = Bun.spawnSync([...before, process.execPath, k8sbench, ...args], {
    cwd,
    stdin: 'ignore',
    env: { ...process.env, NO_COLOR: '1', GITHUB_STEP_SUMMARY: undefined },
  });
  const out = join(cwd, 'out');
  const runs = existsSync(out)
    ? readdirSync(out).filter((one) => statSync(join(out, one)).isDirectory())
    : [];
  return {
    exit: done.exitCode,
    stdout: done.stdout.toString(),
    stderr: done.stderr.toString(),
    run: join(out, runs[0] ?? 'none'),
    out,
  };
};

const json = <T>(dir: string, file: string): T => JSON.parse(readFileSync(join(dir, file), 'utf8')) as T;
const COMPARED = [
  'ENV.txt',
  'MANIFEST.sha256',
  'analysis.json',
  'job.json',
  'noise.json',
  'plan.json',
  'pod.log',
  'profile.json',
  'results.jsonl',
  'run.json',
  'seeds.jsonl',
  'values.json',
];

/** A comparison that came to its end: judged with a tracker line, or refused with reasons and none. */
const expectWhole = ({ exit, stdout, stderr, run: dir, out }: Done): Analysis => {
  expect({ exit, stderr }).toMatchObject({ exit: exit === 3 ? 3 : 0 });
  expect(readdirSync(dir).toSorted()).toEqual(COMPARED);
  expect(unfit(dir)).toEqual([]);
  const analysis = json<Analysis>(dir, 'analysis.json');
  const lines = stdout.split('\n').filter(Boolean);
  expect(analysis.judged).toBe(exit === 0);
  expect(lines).toHaveLength(exit === 0 ? analysis.comparisons.length : 0);
  expect(existsSync(join(out, 'track.jsonl'))).toBe(exit === 0);
  if (exit === 0) expect(readFileSync(join(out, 'track.jsonl'), 'utf8')).toBe(stdout);
  else expect(analysis.reasons).not.toBeEmpty();
  expect(readFileSync(join(out, 'attempts.jsonl'), 'utf8')).toContain(exit === 0 ? '"judged"' : '"refused"');
  return analysis;
};

const STORE = [
  '--local',
  '--profile',
  'durable-store',
  '--turns',
  '50',
  '--rounds',
  '12',
  '--allow-frequency-scaling',
];

describe('a session of 12 rounds', () => {
  test('compare', () => {
    const analysis = expectWhole(run(['compare', ...STORE]));
    expect(analysis.comparisons.map((one) => [one.candidate, one.turns, one.samples])).toEqual([
      ['journal', 50, 12],
    ]);
  }, 120_000);

  test('calibrate', () => {
    const { exit, run: dir, stderr } = run(['calibrate', ...STORE]);
    expect({ exit, stderr }).toMatchObject({ exit: exit === 3 ? 3 : 0 });
    expect(unfit(dir)).toEqual([]);
    const size = json<Calibration>(dir, 'calibration.json').sizes['50']!;
    // 12 rounds on fixed clocks are judged, and the verdict is the exit status; on moving clocks none is given.
    expect(exit === 3).toBe(size.judged && !size.pass);
    expect(Object.values(size.nodes).map((one) => one.runs)).toEqual([12]);
  }, 120_000);

  test('runtimes', () => {
    expectWhole(
      run([
        'compare',
        '--local',
        '--profile',
        'runtimes',
        '--rounds',
        '3',
        '--turns',
        '50',
        '--allow-frequency-scaling',
      ]),
    );
  }, 120_000);
});

interface QuotaGroup {
  /** Words that start a program in it. */
  enter: string[];
  remove: () => void;
}

/** A cgroup that gives a fifth of a CPU, v1 or v2; undefined where none can be made and entered: no root, or a container. */
const quotaGroup = (): QuotaGroup | undefined => {
  const name = `k8sbench-test-${process.pid}`;
  const v1 = existsSync('/sys/fs/cgroup/cpu/cpu.cfs_quota_us');
  const dir = join(v1 ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup', name);
  const enter = ['sh', '-c', `echo $$ > ${dir}/cgroup.procs && exec "$@"`, 'sh'];
  try {
    mkdirSync(dir);
  } catch {
    return undefined;
  }
  const remove = (): void => rmdirSync(dir);
  try {
    writeFileSync(join(dir, v1 ? 'cpu.cfs_quota_us' : 'cpu.max'), v1 ? '20000' : '20000 100000');
    if (Bun.spawnSync([...enter, 'true'], { stderr: 'ignore' }).exitCode === 0) return { enter, remove };
  } catch {
    // No quotas in this hierarchy.
  }
  remove();
  return undefined;
};
const group = quotaGroup();
afterAll(() => group?.remove());

/** How often the kernel has held back the cgroup whose quota counts for this process; undefined when it doesn't say. */
const throttledHere = (): number | undefined => {
  const machine = machineAt('/');
  const { dir } = cpuQuota(machine, locateCgroup(machine));
  const count = /^nr_throttled (\d+)$/m.exec((dir && machine.word(`${dir}/cpu.stat`)) || '')?.[1];
  return count === undefined ? undefined : Number(count);
};

describe('a disturbed machine', () => {
  // Where no quota can be made, the machine's own counters are what there is to agree with.
  test(
    group ? 'throttled by a quota: it is counted' : 'throttling is counted where the kernel counts it',
    () => {
      const command = 'sh -c "seq 100000 | tail -1"';
      const before = throttledHere();
      const done = run(
        [
          'compare',
          '--local',
          '--reference',
          command,
          '--candidate',
          `env ${command}`,
          '--repeat',
          '2',
          '--rounds',
          '3',
          '--max-cv',
          '9',
          '--allow-frequency-scaling',
        ],
        group?.enter,
      );
      const { throttle } = expectWhole(done).sessions[0]!;
      const counts = Object.values(throttle).map((one) => one.throttledSamples);
      const held = readFileSync(join(done.run, 'pod.log'), 'utf8').match(
        /"step":"sample".*"nrThrottled":[1-9]/g,
      );
      expect(counts.reduce<number>((sum, one) => sum + (one ?? 0), 0)).toBe(held?.length ?? 0);
      if (group) expect(held).not.toBeNull();
      else if (throttledHere() === before) expect(held).toBeNull();
    },
    120_000,
  );

  test('busy neighbours: it comes to an end, and the pressure is in the log', () => {
    const spinners = Array.from({ length: 4 }, () =>
      Bun.spawn(['sh', '-c', 'while :; do :; done'], { stdout: 'ignore', stderr: 'ignore' }),
    );
    try {
      const done = run(['compare', ...STORE.map((one) => (one === '12' ? '3' : one))]);
      expectWhole(done);
      const stalled = readFileSync(join(done.run, 'pod.log'), 'utf8')
        .split('\n')
        .filter((line) => /"psiCpuSomeUsec":[1-9]/.test(line));
      if (existsSync('/proc/pressure/cpu')) expect(stalled).not.toBeEmpty();
    } finally {
      for (const one of spinners) one.kill();
    }
  }, 120_000);
});

describe('a workload that misbehaves ends the session by name', () => {
  test.each<[string, string, number, string, string[]]>([
    ['crashes', 'sh -c "echo no >&2; exit 3"', 1, 'ended with status 3; its stderr ended with: no', []],
    [
      'says the same a thousand times',
      "sh -c 'yes | head -1000 >&2; echo why >&2; exit 3'",
      1,
      `its stderr ended with: ${'y\nrun-session: error: '.repeat(19)}why`,
      [],
    ],
    ['is killed', "sh -c 'kill -9 $$'", 1, 'was ended by SIGKILL', []],
    ['hangs', 'sleep 60', 1, 'took longer than its limit of 1 s', ['--step-timeout', '1s']],
    ['prints something else each time', 'date +%N', 1, 'printed different things', []],
    ['leaves a child behind', 'sh -c "sleep 60 & exec true"', 1, 'left processes behind', []],
    ['leaves a daemon behind', 'setsid -f sleep 60', 1, 'left processes behind', []],
  ])(
    '%s',
    (_, command, exit, says, more) => {
      const done = run([
        'compare',
        '--local',
        '--reference',
        command,
        '--candidate',
        `env ${command}`,
        '--repeat',
        '2',
        '--rounds',
        '3',
        '--allow-frequency-scaling',
        ...more,
      ]);
      expect({ exit: done.exit, stderr: done.stderr }).toMatchObject({ exit });
      expect(done.stderr).toContain(says);
      expect(existsSync(join(done.run, 'MANIFEST.sha256'))).toBe(false);
      expect(existsSync(join(done.out, 'track.jsonl'))).toBe(false);
    },
    60_000,
  );

  const [first, second] = parseCpuList(allowedListOf(readFileSync('/proc/self/status', 'utf8'))!)!;
  // A process that may use one core alone has no other affinity to change to: setting the one it has is no change.
  test(
    second === undefined ? 'but not one that sets the affinity it has' : 'changes its own affinity',
    () => {
      const command = `taskset -c ${first} sleep 0.4`;
      const pin = second === undefined ? `${first}` : `${first},${second}`;
      const done = run([
        ...['compare', '--local', '--reference', command, '--candidate', `env ${command}`, '--pin', pin],
        ...['--repeat', '2', '--rounds', '3', '--max-cv', '9', '--allow-frequency-scaling'],
      ]);
      if (second === undefined) expectWhole(done);
      else {
        expect({ exit: done.exit, stderr: done.stderr }).toMatchObject({ exit: 5 });
        expect(done.stderr).toContain('changed its own affinity');
        expect(existsSync(join(done.run, 'MANIFEST.sha256'))).toBe(false);
        expect(existsSync(join(done.out, 'track.jsonl'))).toBe(false);
      }
    },
    60_000,
  );

  test('prints rubbish', () => {
    const profile = {
      name: 'rubbish',
      rule: 'rubbish',
      about: '',
      targets: ['candidate', 'reference'].map((role) => ({
        name: role,
        role,
        seed: ['sh', '-c', 'echo \'{{"seedMs":1,"fingerprint":"f","bytes":1}}\' > {dir}/seed.json'],
        seedMeta: '{dir}/seed.json',
        sample: ['echo', 'ready'],
      })),
    };
    const path = join(scratch, 'rubbish.json');
    writeFileSync(path, JSON.stringify(profile));
    const done = run([
      'compare',
      '--local',
      '--profile',
      path,
      '--turns',
      '5',
      '--rounds',
      '3',
      '--allow-frequency-scaling',
    ]);
    expect({ exit: done.exit, stdout: done.stdout }).toEqual({ exit: 1, stdout: '' });
    expect(done.stderr).toContain("'ready'");
  }, 60_000);
});

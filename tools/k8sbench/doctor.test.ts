import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { type Described, describedMachine, machineNames } from '../../test/described-machine.ts';
import type { Status } from '../../shared/findings.ts';
import type { Finding, Trials } from './doctor/finding.ts';
import { findingsText, verdictOf } from './doctor/show.ts';
import { findingsOf } from './doctor.ts';

const made: string[] = [];
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/** What trials find where nothing is wrong. */
const FINE: Trials = {
  programs: {
    taskset: '/bin/taskset',
    mkfifo: '/bin/mkfifo',
    cat: '/bin/cat',
    sync: '/bin/sync',
    git: '/bin/git',
  },
  node: '24.1.0',
  bun: '1.4.5',
  ownRuntime: '/opt/k8sbench',
  workloads: { root: '/w' },
  pin: { wanted: '1', got: '1' },
  leaf: { directory: '/cgroup' },
  temporary: { path: '/var/tmp', free_bytes: 2 ** 40, fsync_s: Array.from({ length: 20 }, () => 0.002) },
};

const machineOf = (name: string): Described => {
  const machine = describedMachine(name);
  made.push(machine.root);
  return machine;
};
const examine = (machine: Described, trials: Partial<Trials> = {}): Finding[] => {
  const before = machine.read('/proc/stat') ?? '';
  const after = machine.read('/proc/stat.later') ?? before;
  return findingsOf({ machine, stat: { before, after }, trials: { ...FINE, ...trials } });
};

/** What is not ok on each machine when every trial goes well: the finding's name, and what is to be done. */
const MACHINES: Record<string, Record<string, string>> = {
  'x86-static-v2': {
    allowed: "'--cpus 1'",
    isolated: 'isolcpus=LIST',
    smt: "choose from '--pin 1'",
    steal: 'a machine with cores of its own',
  },
  'x86-shared-v2': {
    isolated: 'isolcpus=LIST',
    smt: "choose from '--pin 0-3'",
    numa: "'--pin 0-3'",
    governor: 'cpupower frequency-set -g performance',
    boost: 'echo 0 > /sys/devices/system/cpu/cpufreq/boost',
    quota: 'raise it above the cores',
    busy: "'top'",
  },
  'x86-hybrid-cores': {
    isolated: 'isolcpus=LIST',
    smt: "choose from '--pin 0,2,4-7'",
    types: "'--pin 0-3'",
    governor: 'cpupower',
    boost: 'echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo',
  },
  'arm64-server-v2': { isolated: 'isolcpus=LIST', steal: 'a machine with cores of its own' },
  'arm64-big-little-v1': { isolated: 'isolcpus=LIST', types: "'--pin 4-5'", governor: 'cpupower' },
  'x86-v1-joint': {
    allowed: "'--cpus 1'",
    isolated: 'isolcpus=LIST',
    smt: "choose from '--pin 0'",
    quota: 'raise it above the cores',
    steal: 'a machine with cores of its own',
  },
  'x86-v1-separate-isolated': { allowed: "'--cpus 1'", quota: 'raise it above the cores' },
  'x86-hybrid-cgroups': { isolated: 'isolcpus=LIST' },
  'x86-no-cgroup': {
    'file-system': 'set TMPDIR',
    allowed: "'--cpus 1'",
    isolated: 'isolcpus=LIST',
    governor: 'cpupower',
  },
};

test('every described machine is examined', () =>
  expect(Object.keys(MACHINES).toSorted()).toEqual(machineNames().toSorted()));

test.each(Object.entries(MACHINES))('%s', (name, wanted) => {
  const findings = examine(machineOf(name));
  const notOk = findings.filter((one) => one.status !== 'ok');
  expect(notOk.map((one) => one.name).toSorted()).toEqual(Object.keys(wanted).toSorted());
  for (const one of notOk)
    expect(one).toMatchObject({ status: 'warn', remedy: expect.stringContaining(wanted[one.name]!) });
  expect(new Set(findings.map((one) => one.name)).size).toBe(findings.length);
});

/** A `/proc/stat` of four cores, with these ticks of the first. */
const idle = (other: string): string =>
  [0, 1, 2, 3].map((at) => `cpu${at} ${at === 0 ? other : '0 0 0 200 0 0 0 0'}\n`).join('');

describe('one thing at a time', () => {
  const quiet = 'x86-hybrid-cgroups';
  const cpu = '/sys/devices/system/cpu';
  type Case = [
    what: string,
    change: (machine: Described) => void,
    name: string,
    status: Status,
    says: string,
  ];
  test.each<Case>([
    ['no /proc', (m) => m.write('/proc/self/status', ''), 'allowed', 'fail', 'names no CPU'],
    [
      'one core',
      (m) => m.write('/proc/self/status', 'Cpus_allowed_list:\t2\n'),
      'allowed',
      'warn',
      '1 of 4 CPUs: 2',
    ],
    ['isolated cores', (m) => m.write(`${cpu}/isolated`, '2-3\n'), 'isolated', 'ok', "'--pin 2-3'"],
    [
      'isolated cores of others',
      (m) => {
        m.write(`${cpu}/isolated`, '3\n');
        m.write('/proc/self/status', 'Cpus_allowed_list:\t0-2\n');
      },
      'isolated',
      'warn',
      "'taskset -c 3'",
    ],
    [
      'performance',
      (m) => m.write(`${cpu}/cpu0/cpufreq/scaling_governor`, 'performance'),
      'governor',
      'ok',
      'performance on 0',
    ],
    [
      'a slow clock',
      (m) => m.write('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'hpet\n'),
      'source',
      'warn',
      'hpet',
    ],
    [
      'a fast clock',
      (m) => m.write('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'tsc\n'),
      'source',
      'ok',
      'tsc',
    ],
    [
      'a hot core',
      (m) => m.write(`${cpu}/cpu1/thermal_throttle/core_throttle_count`, '7\n'),
      'heat',
      'warn',
      '7 times',
    ],
    [
      'a battery',
      (m) => {
        m.write('/sys/class/power_supply/AC/type', 'Mains\n');
        m.write('/sys/class/power_supply/AC/online', '0\n');
      },
      'power',
      'warn',
      'plug it in',
    ],
    ['a busy core', (m) => m.write('/proc/stat.later', idle('100 0 0 100 0 0 0 0')), 'busy', 'warn', '13 %'],
    [
      'a stolen core',
      (m) => m.write('/proc/stat.later', idle('0 0 0 190 0 0 0 10')),
      'steal',
      'warn',
      '1.3 %',
    ],
    ['no counted time', (m) => m.write('/proc/stat.later', ''), 'busy', 'ok', 'not told'],
    [
      'pressure',
      (m) => m.write('/proc/pressure/io', 'some avg10=0.00 avg60=1.50 avg300=0.00 total=1\n'),
      'pressure',
      'warn',
      'processes wait for io',
    ],
    [
      'no pressure',
      (m) => m.write('/proc/pressure/io', 'some avg10=9.00 avg60=0.50 avg300=0.00 total=1\n'),
      'pressure',
      'ok',
      'io 0.5 %',
    ],
    [
      'little memory',
      (m) => m.write('/proc/meminfo', 'MemAvailable:  500000 kB\n'),
      'available',
      'warn',
      '488 MiB',
    ],
    [
      'used swap',
      (m) => m.write('/proc/meminfo', 'SwapTotal:  2097152 kB\nSwapFree:  1048576 kB\n'),
      'swap',
      'warn',
      '1.0 GiB of 2.0 GiB',
    ],
    [
      'unused swap',
      (m) => m.write('/proc/meminfo', 'SwapTotal:  2097152 kB\nSwapFree:  2097152 kB\n'),
      'swap',
      'ok',
      'unused',
    ],
    [
      'huge pages',
      (m) => m.write('/sys/kernel/mm/transparent_hugepage/enabled', '[always] madvise never\n'),
      'huge-pages',
      'warn',
      'madvise >',
    ],
    [
      'one layout',
      (m) => m.write('/proc/sys/kernel/randomize_va_space', '0\n'),
      'layout',
      'warn',
      'randomize_va_space=2',
    ],
    [
      'fixtures in memory',
      (m) => m.write('/proc/self/mountinfo', '1 1 0:9 / /var/tmp rw - tmpfs tmpfs rw\n'),
      'file-system',
      'warn',
      'cost next to nothing',
    ],
    [
      'fixtures on a network',
      (m) => m.write('/proc/self/mountinfo', '1 1 0:9 / / rw - nfs4 server:/x rw\n'),
      'file-system',
      'warn',
      'server:/x',
    ],
  ])('%s', (_, change, name, status, says) => {
    const machine = machineOf(quiet);
    machine.write('/proc/stat', idle('0 0 0 0 0 0 0 0').replaceAll('200', '0'));
    machine.write('/proc/stat.later', idle('0 0 0 200 0 0 0 0'));
    change(machine);
    const found = examine(machine).find((one) => one.name === name);
    expect(found?.status).toBe(status);
    expect(JSON.stringify(found)).toContain(says);
  });

  test.each<[what: string, trials: Partial<Trials>, name: string, status: Status, says: string]>([
    ['no taskset', { pin: "'taskset' is not on the PATH" }, 'pinning', 'warn', '--pin none'],
    ['a pin that does not hold', { pin: { wanted: '1', got: '0-1' } }, 'pinning', 'warn', "may run on '0-1'"],
    [
      'no cgroup',
      { leaf: "no cgroup can be made below '/x': permission denied" },
      'cpu-time',
      'warn',
      'Delegate=yes',
    ],
    ['no mkfifo', { programs: { cat: '/bin/cat', sync: '/bin/sync' } }, 'coreutils', 'fail', "'mkfifo'"],
    ['no sync', { programs: { cat: '/bin/cat', mkfifo: '/bin/mkfifo' } }, 'coreutils', 'warn', "'sync'"],
    ['no git', { programs: {} }, 'git', 'warn', 'install git'],
    ['an older node', { node: '20.1.0' }, 'runtime', 'ok', 'bun 1.4.5; node 20.1.0 is older than 24'],
    ['no place for workloads', { workloads: "can't unpack" }, 'workloads', 'fail', 'XDG_CACHE_HOME'],
    [
      'no place for fixtures',
      { temporary: { path: '/x', problem: "can't write" } },
      'fixtures',
      'fail',
      'TMPDIR',
    ],
    ['a full disk', { temporary: { path: '/x', free_bytes: 5, fsync_s: [1] } }, 'free', 'warn', '0 MiB'],
    [
      'a restless disk',
      { temporary: { path: '/x', free_bytes: 5, fsync_s: [1, 1, 1, 20, 30] } },
      'fsync',
      'warn',
      '28000.0 ms',
    ],
  ])('%s', (_, trials, name, status, says) => {
    const found = examine(machineOf(quiet), trials).find((one) => one.name === name);
    expect(found?.status).toBe(status);
    expect(JSON.stringify(found)).toContain(says);
  });

  test('no runtime at all: this program is one', () => {
    const { node: _node, bun: _bun, ...rest } = FINE;
    const machine = machineOf(quiet);
    const stat = { before: '', after: '' };
    const findings = findingsOf({ machine, stat, trials: rest });
    expect(findings.find((one) => one.name === 'runtime')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('/opt/k8sbench'),
    });
    expect(findings.find((one) => one.name === 'two-runtimes')).toMatchObject({
      found: 'no node and no bun on the PATH',
    });
  });
});

const finding = (name: string, status: Status): Finding => ({
  area: name === 'a' ? 'cores' : 'disk',
  name,
  status,
  found: 'found \u001b[2J',
  means: 'means',
  ...(status === 'ok' ? {} : { remedy: 'do this' }),
});

describe('what is shown', () => {
  test('each with its status, its meaning and what to do; foreign text is harmless', () => {
    const text = findingsText([finding('a', 'ok'), finding('bb', 'warn')], (_, one) => one);
    expect(text).toBe(
      `cores
  ok    a   found \\e[2J
            means

disk
  warn  bb  found \\e[2J
            means
            → do this

a local session can run here; 1 of 2 findings weaken what it measures
`,
    );
  });

  test.each<[Status[], string]>([
    [['ok'], 'a local session can run here, and nothing weakens it'],
    [['ok', 'warn', 'fail'], 'no local session can run here: 1 of 3 findings prevent it'],
  ])('%j', (statuses, says) => expect(verdictOf(statuses.map((one) => finding('a', one)))).toBe(says));
});

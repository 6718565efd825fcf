import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { cpuQuota, isMachineRoot, locateCgroup, memoryMax } from '../../shared/cgroup.ts';
import { governorsOf, isFixed } from '../../shared/governors.ts';
import { ClockSampler, scalingRefusal } from './clock.ts';
import { Conditions } from './conditions.ts';
import { gomaxprocsOf } from './cores.ts';
import { formatCpuList } from '../../shared/cpu-list.ts';
import { type Described, describedMachine, machineNames } from '../../test/described-machine.ts';
import { cpuSetOf, cpusOf, machineFacts } from './facts.ts';
import { CpuMeter, spent } from './meter.ts';
import { choosePin, idleShares } from './pin.ts';
import { passed, SurroundingsMeter } from './surroundings.ts';

const made: Described[] = [];
const machineOf = (name: string): Described => {
  const machine = describedMachine(name);
  made.push(machine);
  return machine;
};
afterAll(() => {
  for (const machine of made) rmSync(machine.root, { recursive: true });
});

type Delivery = 'image' | 'bundle' | 'local';

/** What the session must see on each machine; a value that is absent here is absent there. */
const MACHINES: Record<
  string,
  { delivery: Delivery; cpus: number; facts: Record<string, unknown>; pin: Record<string, unknown> }
> = {
  'x86-static-v2': {
    delivery: 'image',
    cpus: 2,
    facts: {
      kernel: '6.6.0-constructed',
      cpuModel: 'Constructed Xeon 4000 @ 2.00GHz',
      cpuFeatures:
        'avx avx2 avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi avx512_vbmi2 avx512_bitalg avx512_vnni gfni bmi2 popcnt',
      cpusOnline: '0-7',
      cpusAllowed: '1,5',
      cpuSet: 'exclusive',
      cgroup: 'v2',
      cpuMax: '200000 100000',
      memoryMax: '8589934592',
      loadavg: '3.10 2.90 2.50',
      boost: false,
      smt: 'on',
      numaNodes: { '0': '1,5' },
      fixtures: { filesystem: 'ext4', device: '/dev/sdb1 (8:17)', mount: '/data' },
    },
    pin: { method: 'all-allowed', cpus: '1,5', gomaxprocs: 2, governors: 'performance', fixed: true },
  },
  'x86-shared-v2': {
    delivery: 'bundle',
    cpus: 2,
    facts: {
      kernel: '6.1.0-constructed',
      cpuModel: 'Constructed EPYC 100',
      cpuFeatures: 'avx avx2 bmi2 popcnt',
      cpusOnline: '0-7',
      cpusAllowed: '0-7',
      cpuSet: 'shared',
      cgroup: 'v2',
      cpuMax: '200000 100000',
      memoryMax: '1073741824',
      loadavg: '0.10 0.20 0.30',
      boost: true,
      smt: 'on',
      numaNodes: { '0': '0-3', '1': '4-7' },
      fixtures: { filesystem: 'ext4', device: '/dev/sda1 (8:1)', mount: '/' },
    },
    // 1, 2, 6 and 7 are idle; the siblings of 1 and 7 (5 and 3) are busy, 2 and 6 are one whole free core.
    pin: { method: 'quietest', cpus: '2,6', gomaxprocs: 2, governors: 'schedutil', fixed: false },
  },
  'x86-hybrid-cores': {
    delivery: 'local',
    cpus: 3,
    facts: {
      kernel: '6.8.0-constructed',
      cpuModel: 'Constructed Core Ultra 5',
      cpuFeatures: 'avx avx2 gfni bmi2 popcnt',
      cpusOnline: '0-7',
      cpusAllowed: '0-7',
      cpuSet: 'shared',
      cgroup: 'v2',
      cpuMax: null,
      memoryMax: null,
      loadavg: '0.00 0.00 0.00',
      boost: true,
      smt: 'on',
      coreTypes: { core: '0-3', atom: '4-7' },
      fixtures: { filesystem: 'btrfs', device: '/dev/nvme0n1p2 (8:1)', mount: '/' },
    },
    // All but 0 are idle: performance cores first, of them the whole free core 2-3, then 1.
    pin: { method: 'quietest', cpus: '1-3', gomaxprocs: 3, governors: 'powersave', fixed: false },
  },
  'arm64-server-v2': {
    delivery: 'image',
    cpus: 4,
    facts: {
      kernel: '6.1.0-arm64-constructed',
      cpuModel: 'implementer 0x41 part 0xd40',
      cpuFeatures: 'asimd sve',
      cpusOnline: '0-3',
      cpusAllowed: '0-3',
      cpuSet: 'shared',
      cgroup: 'v2',
      cpuMax: '400000 100000',
      memoryMax: 'max',
      loadavg: '0.00 0.00 0.00',
      smt: 'notsupported',
      coreTypes: { 'implementer 0x41 part 0xd40': '0-3' },
      coreCapacities: { '1024': '0-3' },
      numaNodes: { '0': '0-3' },
      fixtures: { filesystem: 'overlay', device: 'overlay (0:60)', mount: '/' },
    },
    pin: { method: 'all-allowed', cpus: '0-3', gomaxprocs: 4, governors: '', fixed: true },
  },
  'arm64-big-little-v1': {
    delivery: 'local',
    cpus: 2,
    facts: {
      kernel: '5.10.0-constructed',
      cpuModel: 'implementer 0x41 part 0xd05',
      cpuFeatures: 'asimd',
      cpusOnline: '0-5',
      cpusAllowed: '0-5',
      cpuSet: 'shared',
      cgroup: 'v1',
      cpuMax: 'max 100000',
      memoryMax: 'max',
      loadavg: '0.00 0.00 0.00',
      coreTypes: { 'implementer 0x41 part 0xd05': '0-3', 'implementer 0x41 part 0xd0b': '4-5' },
      coreCapacities: { '446': '0-3', '1024': '4-5' },
      fixtures: { filesystem: 'f2fs', device: '/dev/mmcblk0p1 (8:1)', mount: '/' },
    },
    pin: { method: 'quietest', cpus: '4-5', gomaxprocs: 2, governors: 'schedutil', fixed: false },
  },
  'x86-v1-joint': {
    delivery: 'image',
    cpus: 4,
    facts: {
      kernel: '4.18.0-constructed',
      cpuModel: 'Constructed Xeon E5',
      cpuFeatures: 'avx popcnt',
      cpusOnline: '0-1',
      cpusAllowed: '0-1',
      cpuSet: 'shared',
      cgroup: 'v1',
      cpuMax: '150000 100000',
      memoryMax: '4294967296',
      loadavg: '9.00 9.00 9.00',
      fixtures: { filesystem: 'overlay', device: 'overlay (0:60)', mount: '/' },
    },
    pin: { method: 'all-allowed', cpus: '0-1', gomaxprocs: 2, governors: '', fixed: true },
  },
  'x86-v1-separate-isolated': {
    delivery: 'local',
    cpus: 2,
    facts: {
      kernel: '5.15.0-constructed',
      cpuModel: 'Constructed Opteron',
      cpuFeatures: 'popcnt',
      cpusOnline: '0-3,6-7',
      cpusAllowed: '2-5',
      cpuSet: 'exclusive',
      cgroup: 'v1',
      cpuMax: '50000 100000',
      memoryMax: null,
      loadavg: '0.00 0.00 0.00',
      smt: 'off',
      cpusIsolated: '2-3',
      numaNodes: { '0': '2-3' },
      fixtures: { filesystem: 'ext4', device: '/dev/sda1 (8:1)', mount: '/' },
    },
    // 4 and 5 are allowed and offline: no candidates.
    pin: { method: 'all-allowed', cpus: '2-3', gomaxprocs: 2, governors: 'performance', fixed: true },
  },
  'x86-hybrid-cgroups': {
    delivery: 'local',
    cpus: 4,
    facts: {
      kernel: '5.4.0-constructed',
      cpuModel: 'Constructed Ryzen',
      cpuFeatures: 'avx avx2 bmi2 popcnt',
      cpusOnline: '0-3',
      cpusAllowed: '0-3',
      cpuSet: 'shared',
      cgroup: 'hybrid',
      cpuMax: '200000 50000',
      memoryMax: null,
      loadavg: '0.00 0.00 0.00',
      fixtures: { filesystem: 'xfs', device: '/dev/sda1 (8:1)', mount: '/' },
    },
    pin: { method: 'all-allowed', cpus: '0-3', gomaxprocs: 4, governors: '', fixed: true },
  },
  'x86-no-cgroup': {
    delivery: 'local',
    cpus: 2,
    facts: {
      kernel: '6.12.0-constructed',
      cpuModel: '',
      cpuFeatures: '',
      cpusOnline: '0-1',
      cpusAllowed: '0-1',
      cpuSet: 'shared',
      cgroup: 'none',
      cgroupReason: 'no cgroup hierarchy is mounted',
      cpuMax: null,
      memoryMax: null,
      loadavg: '0.00 0.00 0.00',
      boost: false,
      fixtures: { filesystem: 'tmpfs', device: 'none (0:20)', mount: '/' },
    },
    pin: {
      method: 'all-allowed',
      cpus: '0-1',
      gomaxprocs: 2,
      governors: 'performance unreadable',
      fixed: false,
    },
  },
};

const idleOf = (machine: Described) => async () =>
  idleShares(machine.read('/proc/stat')!, machine.read('/proc/stat.later')!);

describe('described machines', () => {
  test('each is labelled as constructed and has its expectations here', () => {
    const names = machineNames();
    expect(names.length).toBeGreaterThanOrEqual(8);
    expect(names.toSorted()).toEqual(Object.keys(MACHINES).toSorted());
    for (const name of names) expect(machineOf(name).about).toStartWith('constructed: ');
  });

  for (const [name, wanted] of Object.entries(MACHINES)) {
    const { delivery, cpus: count, facts, pin } = wanted;

    test(`${name}: facts`, () => {
      const machine = machineOf(name);
      const seen = machineFacts(
        machine,
        locateCgroup(machine),
        cpusOf(machine),
        { cpus: count, pin: 'auto' },
        { delivery },
        '/data/fixtures',
      );
      const { cpuStat, cpuStatOf, requestedCpus, ...rest } = seen;
      expect(rest).toEqual(facts);
      expect(requestedCpus).toBe(count);
      expect(Object.keys(cpuStat as object).length > 0).toBe(cpuStatOf !== undefined);
    });

    test(`${name}: pin and clock`, async () => {
      const machine = machineOf(name);
      const { allowed } = cpusOf(machine);
      const chosen = await choosePin('auto', count, allowed, idleOf(machine));
      const governors = governorsOf(machine, chosen.cpus);
      expect({
        method: chosen.method,
        cpus: formatCpuList(chosen.cpus),
        gomaxprocs: gomaxprocsOf(chosen.cpus.length, count),
        governors: [...new Set(governors.values())].join(' '),
        fixed: isFixed(governors),
      }).toEqual(pin as never);
    });
  }

  test('a clock that is not fixed is refused with cores and governors', () => {
    expect(scalingRefusal(governorsOf(machineOf('x86-no-cgroup'), [0, 1])).message).toContain(
      "core 1 'unreadable'",
    );
    const { message, exit } = scalingRefusal(governorsOf(machineOf('x86-shared-v2'), [2, 6]));
    expect(message).toContain("core 2 'schedutil', core 6 'schedutil'");
    expect(message).toContain('--allow-frequency-scaling');
    expect(exit).toBe(1);
  });
});

/** Files that grow, by how much, and what that must read as. */
const GROWTH: Record<string, { files: Record<string, [string, string][]>; spent: Record<string, number> }> = {
  'x86-static-v2': {
    files: {
      '/sys/fs/cgroup/cpu.stat': [
        ['usage_usec 5000000', 'usage_usec 9000000'],
        ['nr_periods 100', 'nr_periods 110'],
        ['nr_throttled 3', 'nr_throttled 5'],
        ['throttled_usec 45000', 'throttled_usec 45999'],
      ],
    },
    spent: { usageUsec: 4000000, nrPeriods: 10, nrThrottled: 2, throttledUsec: 999 },
  },
  // Usage is the container's own, throttling the pod's, where the quota is.
  'x86-shared-v2': {
    files: {
      '/sys/fs/cgroup/kubepods.slice/kubepods-pod1.slice/cri-abc.scope/cpu.stat': [
        ['usage_usec 8000000', 'usage_usec 9000000'],
      ],
      '/sys/fs/cgroup/kubepods.slice/kubepods-pod1.slice/cpu.stat': [
        ['nr_throttled 50', 'nr_throttled 51'],
        ['throttled_usec 700000', 'throttled_usec 700500'],
      ],
    },
    spent: { usageUsec: 1000000, nrPeriods: 0, nrThrottled: 1, throttledUsec: 500 },
  },
  // Without the cpu controller there is usage and nothing on throttling.
  'x86-hybrid-cores': {
    files: {
      '/sys/fs/cgroup/user.slice/session-2.scope/cpu.stat': [['usage_usec 123', 'usage_usec 1000123']],
    },
    spent: { usageUsec: 1000000 },
  },
  'x86-v1-joint': {
    files: {
      '/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage': [['9007199254740993123', '9007199255740993124']],
      '/sys/fs/cgroup/cpu,cpuacct/cpu.stat': [
        ['nr_periods 10', 'nr_periods 12'],
        ['throttled_time 9007199254740993000', 'throttled_time 9007199254740995500'],
      ],
    },
    spent: { usageUsec: 1000000.001, nrPeriods: 2, nrThrottled: 0, throttledUsec: 2.5 },
  },
  'x86-v1-separate-isolated': {
    files: {
      '/sys/fs/cgroup/cpuacct/bench/run/cpuacct.usage': [['5000000000', '6000000000']],
      '/sys/fs/cgroup/cpu/bench/cpu.stat': [['throttled_time 123456789', 'throttled_time 123457789']],
    },
    spent: { usageUsec: 1000000, nrPeriods: 0, nrThrottled: 0, throttledUsec: 1 },
  },
  'x86-hybrid-cgroups': {
    files: { '/sys/fs/cgroup/cpu,cpuacct/job/cpuacct.usage': [['1000000000', '2000000000']] },
    spent: { usageUsec: 1000000, nrPeriods: 0, nrThrottled: 0, throttledUsec: 0 },
  },
  'x86-no-cgroup': { files: {}, spent: {} },
};

describe('cgroup readings', () => {
  for (const [name, { files, spent: wanted }] of Object.entries(GROWTH))
    test(name, () => {
      const machine = machineOf(name);
      const meter = new CpuMeter(machine, locateCgroup(machine));
      const before = meter.read();
      for (const [path, changes] of Object.entries(files))
        machine.write(
          path,
          changes.reduce((text, [from, to]) => {
            expect(text).toContain(from);
            return text.replace(from, to);
          }, machine.read(path)!),
        );
      const { harnessUsec, ...found } = spent(before, meter.read());
      meter.close();
      // The harness's own time is taken off; in the described cgroup it never was.
      if (wanted['usageUsec'] !== undefined)
        found.usageUsec = Math.round((found.usageUsec! + harnessUsec) * 1000) / 1000;
      expect(found).toEqual(wanted);
    });

  test('a counter that goes backwards is not measured', () => {
    const machine = machineOf('x86-static-v2');
    const meter = new CpuMeter(machine, locateCgroup(machine));
    const before = meter.read();
    machine.write('/sys/fs/cgroup/cpu.stat', 'usage_usec 1\nnr_throttled 3\nthrottled_usec 1\n');
    const { harnessUsec: _, ...found } = spent(before, meter.read());
    expect(found).toEqual({ nrThrottled: 0 });
  });

  const PLACES: [string, string | undefined, boolean | undefined][] = [
    ['x86-static-v2', '/sys/fs/cgroup', false],
    ['x86-shared-v2', '/sys/fs/cgroup/kubepods.slice/kubepods-pod1.slice/cri-abc.scope', false],
    ['x86-v1-joint', '/sys/fs/cgroup/cpu,cpuacct', false],
    ['arm64-big-little-v1', '/sys/fs/cgroup/cpu,cpuacct', true],
    ['x86-v1-separate-isolated', '/sys/fs/cgroup/cpuacct/bench/run', false],
    ['x86-no-cgroup', undefined, undefined],
  ];
  for (const [name, dir, root] of PLACES)
    test(`${name}: its cgroup is ${dir}`, () => {
      const machine = machineOf(name);
      const { usage } = locateCgroup(machine);
      expect(usage?.dir).toBe(dir);
      expect(usage && isMachineRoot(machine, usage)).toBe(root);
    });

  test('a path that climbs out of the namespace is the mount itself', () => {
    const machine = machineOf('x86-static-v2');
    machine.write('/proc/self/cgroup', '0::/../../other\n');
    expect(locateCgroup(machine).usage?.dir).toBe('/sys/fs/cgroup');
    expect(cpuQuota(machine, locateCgroup(machine)).cpuMax).toBe('200000 100000');
    expect(memoryMax(machine, locateCgroup(machine))).toBe('8589934592');
  });
});

/** What the surroundings show between before and after a change. */
const differences = (name: string, cpus: number[], change: (machine: Described) => void) => {
  const machine = machineOf(name);
  const meter = new SurroundingsMeter(machine, locateCgroup(machine), cpus);
  const before = meter.read();
  change(machine);
  const result = passed(before, meter.read());
  meter.close();
  return { of: meter.pressureOf, ...result };
};
const unchanged = (): void => undefined;

describe('surroundings', () => {
  test("v2: the cgroup's own pressure and io, steal of the measured cores only", () => {
    expect(
      differences('x86-static-v2', [1, 5], (machine) => {
        machine.write(
          '/proc/stat',
          machine
            .read('/proc/stat')!
            .replace('cpu1 100 0 100 1000 0 0 0 10', 'cpu1 100 0 100 1000 0 0 0 12')
            .replace('cpu2 100 0 100 1000 0 0 0 10', 'cpu2 100 0 100 1000 0 0 0 99'),
        );
        machine.write(
          '/sys/fs/cgroup/cpu.pressure',
          'some avg10=1.00 total=1500\nfull avg10=0.00 total=201\n',
        );
        machine.write(
          '/sys/fs/cgroup/io.stat',
          '8:16 rbytes=5096 wbytes=8192\n253:0 rbytes=1000 wbytes=2512\n',
        );
      }),
    ).toEqual({
      of: 'cgroup',
      stealUsec: 20000,
      psiCpuSomeUsec: 500,
      psiCpuFullUsec: 1,
      psiMemorySomeUsec: 0,
      psiMemoryFullUsec: 0,
      psiIoSomeUsec: 0,
      psiIoFullUsec: 0,
      ioReadBytes: 1000,
      ioWriteBytes: 512,
    });
  });

  test('v1: blkio; no pressure on an old kernel', () => {
    expect(
      differences('x86-v1-joint', [0, 1], (machine) =>
        machine.write(
          '/sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes',
          '8:0 Read 5096\n8:0 Write 1024\n253:1 Read 1\n253:1 Write 1002\nTotal 7123\n',
        ),
      ),
    ).toEqual({ of: undefined, stealUsec: 0, ioReadBytes: 1000, ioWriteBytes: 1000 });
  });

  test("hybrid: the v2 side's pressure; without one, the machine's", () => {
    expect(differences('x86-hybrid-cgroups', [0], unchanged)).toEqual({
      of: 'cgroup',
      stealUsec: 0,
      psiCpuSomeUsec: 0,
    });
    expect(differences('x86-hybrid-cores', [0], unchanged)).toEqual({
      of: 'machine',
      stealUsec: 0,
      psiCpuSomeUsec: 0,
      psiCpuFullUsec: 0,
    });
    expect(differences('x86-no-cgroup', [0], unchanged)).toEqual({ of: undefined });
  });
});

describe('clock readings', () => {
  test("mean, lowest and highest of the highest core's clock", () => {
    const machine = machineOf('x86-static-v2');
    const clock = new ClockSampler(machine, [1, 5]);
    expect(clock.available).toBe(true);
    for (const khz of [2005000, 2105000, 1905000]) {
      machine.write('/sys/devices/system/cpu/cpu5/cpufreq/scaling_cur_freq', `${khz}\n`);
      clock.sample();
    }
    // Core 1 stays at 2001 MHz and is the highest when core 5 is slower.
    const { mhz, mhzMin, mhzMax } = clock.take();
    expect(mhz).toBeCloseTo((2005 + 2105 + 2001) / 3, 9);
    expect([mhzMin, mhzMax]).toEqual([2001, 2105]);
    expect(clock.take()).toEqual({});
    clock.close();
  });

  test('a core without cpufreq has none', () => {
    const clock = new ClockSampler(machineOf('arm64-server-v2'), [0, 1]);
    clock.sample();
    expect(clock.available).toBe(false);
    expect(clock.take()).toEqual({});
  });
});

describe('conditions', () => {
  const CHANGES: [string, string, string, string, string][] = [
    ['x86-static-v2', '/sys/fs/cgroup/cpuset.cpus.effective', '1,5\n', '1,6\n', 'cpuset'],
    [
      'x86-v1-separate-isolated',
      '/sys/fs/cgroup/cpuset/bench/cpuset.effective_cpus',
      '2-3\n',
      '2\n',
      'cpuset',
    ],
    ['arm64-big-little-v1', '/sys/fs/cgroup/cpuset/cpuset.cpus', '0-5\n', '0-3\n', 'cpuset'],
    [
      'x86-shared-v2',
      '/proc/self/status',
      'Cpus_allowed_list:\t0-7\n',
      'Cpus_allowed_list:\t0-6\n',
      'affinity',
    ],
    ['x86-shared-v2', '/sys/devices/system/cpu/online', '0-7\n', '0-5\n', 'cpuset'],
    [
      'x86-static-v2',
      '/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor',
      'performance\n',
      'powersave\n',
      'governor',
    ],
  ];
  for (const [name, path, before, after, code] of CHANGES)
    test(`${name}: a change of ${path} voids the session`, () => {
      const machine = machineOf(name);
      machine.write(path, before);
      const conditions = new Conditions(machine, locateCgroup(machine), [1, 5]);
      expect(conditions.changed()).toBeUndefined();
      machine.write(path, after);
      const changed = conditions.changed();
      expect({ code: changed?.code, exit: changed?.exit, invalid: changed?.invalid }).toEqual({
        code: code as never,
        exit: 5,
        invalid: true,
      });
      conditions.close();
    });
});

describe('cpuSet', () => {
  test('a static kubelet that can be seen vouches for a pod that has the whole machine', () => {
    const machine = machineOf('arm64-server-v2');
    const plan = { cpus: 4, pin: 'auto' };
    expect(cpuSetOf(machine, 'image', plan, cpusOf(machine))).toBe('shared');
    machine.write(
      '/var/lib/kubelet/cpu_manager_state',
      '{"policyName":"static","defaultCpuSet":"","entries":{"x":{"bench":"0-3"}},"checksum":1}',
    );
    expect(cpuSetOf(machine, 'image', plan, cpusOf(machine))).toBe('exclusive');
    machine.write('/var/lib/kubelet/cpu_manager_state', '{"policyName":"static","defaultCpuSet":"0-3"}');
    expect(cpuSetOf(machine, 'image', plan, cpusOf(machine))).toBe('shared');
    machine.write('/var/lib/kubelet/cpu_manager_state', '{"policyName":"none","defaultCpuSet":""}');
    expect(cpuSetOf(machine, 'image', plan, cpusOf(machine))).toBe('shared');
  });

  test('locally, a pin decides: isolated cores are exclusive, others are not', () => {
    const machine = machineOf('x86-v1-separate-isolated');
    const cpus = cpusOf(machine);
    expect(cpuSetOf(machine, 'local', { cpus: 1, pin: '3' }, cpus)).toBe('exclusive');
    expect(cpuSetOf(machine, 'local', { cpus: 1, pin: '1,3' }, cpus)).toBe('shared');
  });
});

import { type Cgroup, cpuQuota } from '../../shared/cgroup.ts';
import type { Machine, Reread } from '../../shared/machine.ts';

/** CPU counters at one moment; a counter that this machine lacks is absent. All only grow. */
interface Reading {
  /** CPU time of the cgroup, ns. */
  usage?: bigint;
  periods?: bigint;
  throttled?: bigint;
  /** Time throttled, ns. */
  throttledTime?: bigint;
  /** CPU time of this process, the harness, µs. */
  own: number;
}

/** Less than a kernel charges at one tick, and more than passes between two readings, ns. */
const TICK_NS = 500_000n;

/** What passed between two readings, or over several such spans. Absent is not measured. */
export interface Spent {
  usageUsec?: number;
  nrPeriods?: number;
  nrThrottled?: number;
  throttledUsec?: number;
  harnessUsec: number;
}

const ownUsec = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const field = (text: string | undefined, name: string): bigint | undefined => {
  const found = text === undefined ? null : new RegExp(`^${name} (\\d+)$`, 'm').exec(text);
  return found ? BigInt(found[1]!) : undefined;
};

const counter = (text: string | undefined): bigint | undefined =>
  text !== undefined && /^\d+\s*$/.test(text) ? BigInt(text.trim()) : undefined;

/** Difference of two counters in µs (from ns) or as a count; absent unless both are there and it isn't negative. */
const grown = (from: bigint | undefined, to: bigint | undefined, perUnit: number): number | undefined =>
  from === undefined || to === undefined || to < from ? undefined : Number(to - from) / perUnit;

/**
 * CPU usage and throttling around one process, from files kept open. Counters are read as whole numbers of any size: the
 * nanoseconds of a large machine leave the exact range of a double within days.
 */
export class CpuMeter {
  #version: 1 | 2;
  #usage: Reread | undefined;
  #throttle: Reread | undefined;

  constructor(machine: Machine, cgroup: Cgroup, usageDir = cgroup.usage?.dir) {
    this.#version = cgroup.usage?.version ?? 2;
    const quota = cpuQuota(machine, cgroup);
    if (usageDir !== undefined)
      this.#usage = machine.open(`${usageDir}/${this.#version === 2 ? 'cpu.stat' : 'cpuacct.usage'}`);
    if (quota.dir !== undefined) this.#throttle = machine.open(`${quota.dir}/cpu.stat`);
  }

  #cgroupUsage(): bigint | undefined {
    const text = this.#usage?.text();
    if (this.#version === 1) return counter(text);
    const usec = field(text, 'usage_usec');
    return usec === undefined ? undefined : usec * 1000n;
  }

  read(): Reading {
    // Some kernels charge a running process at ticks; a tick between two reads would charge the harness in one of them only.
    // When the cgroup's time hardly moves around the own reading, the two belong together.
    let usage = this.#cgroupUsage();
    let own = ownUsec();
    for (let tries = 0; tries < 3 && usage !== undefined; tries++) {
      const again = this.#cgroupUsage();
      if (again === undefined || again - usage < TICK_NS) break;
      usage = again;
      own = ownUsec();
    }
    const stat = this.#throttle?.text();
    const nanoseconds = field(stat, 'throttled_time');
    const microseconds = field(stat, 'throttled_usec');
    const reading: Reading = { own };
    const set = (key: 'usage' | 'periods' | 'throttled' | 'throttledTime', value: bigint | undefined) => {
      if (value !== undefined) reading[key] = value;
    };
    set('usage', usage);
    set('periods', field(stat, 'nr_periods'));
    set('throttled', field(stat, 'nr_throttled'));
    set('throttledTime', nanoseconds ?? (microseconds === undefined ? undefined : microseconds * 1000n));
    return reading;
  }

  close(): void {
    this.#usage?.close();
    this.#throttle?.close();
  }
}

/** What passed between two readings. `usageUsec` is the cgroup's time less the harness's own. */
export const spent = (from: Reading, to: Reading): Spent => {
  const harnessUsec = to.own - from.own;
  const cgroup = grown(from.usage, to.usage, 1000);
  const usage = cgroup === undefined ? undefined : cgroup - harnessUsec;
  const values = {
    usageUsec: usage !== undefined && usage >= 0 ? usage : undefined,
    nrPeriods: grown(from.periods, to.periods, 1),
    nrThrottled: grown(from.throttled, to.throttled, 1),
    throttledUsec: grown(from.throttledTime, to.throttledTime, 1000),
  };
  return {
    ...(Object.fromEntries(Object.entries(values).filter(([, one]) => one !== undefined)) as Partial<Spent>),
    harnessUsec,
  };
};

/** Several spans together; a value that one of them lacks is absent. */
export const total = (spans: readonly Spent[]): Spent => {
  const sum = (key: keyof Spent): Partial<Spent> =>
    spans.length > 0 && spans.every((one) => one[key] !== undefined)
      ? { [key]: spans.reduce((all, one) => all + one[key]!, 0) }
      : {};
  return {
    ...sum('usageUsec'),
    ...sum('nrPeriods'),
    ...sum('nrThrottled'),
    ...sum('throttledUsec'),
    harnessUsec: spans.reduce((all, one) => all + one.harnessUsec, 0),
  };
};

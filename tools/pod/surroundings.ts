import { type Cgroup, isMachineRoot } from '../../shared/cgroup.ts';
import type { Machine, Reread } from '../../shared/machine.ts';

/**
 * Readings around a whole step that tell who else was at work: steal, pressure, io. All are differences of counters; a key
 * is absent where the machine doesn't count it.
 */
export interface Surroundings {
  /** Time the hypervisor took from the measured cores, µs (the kernel counts it in ticks). */
  stealUsec?: number;
  psiCpuSomeUsec?: number;
  psiCpuFullUsec?: number;
  psiMemorySomeUsec?: number;
  psiMemoryFullUsec?: number;
  psiIoSomeUsec?: number;
  psiIoFullUsec?: number;
  ioReadBytes?: number;
  ioWriteBytes?: number;
}

type Counters = Map<keyof Surroundings, bigint>;

/** USER_HZ, which is 100 on every Linux that Node and Bun run on. */
const USEC_PER_TICK = 10_000n;
const PRESSURES = ['cpu', 'memory', 'io'] as const;

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** Totals of a pressure file, µs: `some avg10=… total=N` and `full …`. */
const pressure = (text: string | undefined, kind: string, counters: Counters): void => {
  for (const [, share, total] of (text ?? '').matchAll(/^(some|full) .*\btotal=(\d+)$/gm))
    counters.set(`psi${capital(kind)}${capital(share!)}Usec` as keyof Surroundings, BigInt(total!));
};

/** Steal ticks of these CPUs. */
const steal = (stat: string | undefined, cpus: ReadonlySet<number>): bigint | undefined => {
  let sum: bigint | undefined;
  for (const [, cpu, rest] of (stat ?? '').matchAll(/^cpu(\d+) (.*)$/gm)) {
    const ticks = cpus.has(Number(cpu)) ? rest!.trim().split(/\s+/)[7] : undefined;
    if (ticks !== undefined) sum = (sum ?? 0n) + BigInt(ticks);
  }
  return sum;
};

/** Bytes over all devices: v2 `8:0 rbytes=1 wbytes=2 …`, v1 `8:0 Read 1`. */
const ioBytes = (text: string | undefined, version: 1 | 2, counters: Counters): void => {
  if (text === undefined) return;
  const sum = (pattern: RegExp): bigint =>
    [...text.matchAll(pattern)].reduce((all, found) => all + BigInt(found[1]!), 0n);
  counters.set('ioReadBytes', sum(version === 2 ? /\brbytes=(\d+)/g : /^\d+:\d+ Read (\d+)$/gm));
  counters.set('ioWriteBytes', sum(version === 2 ? /\bwbytes=(\d+)/g : /^\d+:\d+ Write (\d+)$/gm));
};

/** What happens beside the measured processes while they run: steal, pressure, writes of others. */
export class SurroundingsMeter {
  /** Whose pressure is read: the cgroup's own or the whole machine's; absent without either. */
  readonly pressureOf: 'cgroup' | 'machine' | undefined;
  #cpus: ReadonlySet<number>;
  #stat: Reread;
  #pressures: [string, Reread][];
  #io: { version: 1 | 2; file: Reread } | undefined;

  constructor(machine: Machine, cgroup: Cgroup, cpus: readonly number[]) {
    this.#cpus = new Set(cpus);
    this.#stat = machine.open('/proc/stat');
    const own =
      cgroup.unified &&
      !isMachineRoot(machine, cgroup.unified) &&
      typeof machine.read(`${cgroup.unified.dir}/cpu.pressure`) === 'string'
        ? cgroup.unified.dir
        : undefined;
    this.#pressures = PRESSURES.map((kind) => [
      kind,
      machine.open(own === undefined ? `/proc/pressure/${kind}` : `${own}/${kind}.pressure`),
    ]);
    this.pressureOf = this.#pressures.some(([, file]) => file.text() !== undefined)
      ? own === undefined
        ? 'machine'
        : 'cgroup'
      : undefined;
    if (cgroup.io) {
      const { dir, version } = cgroup.io;
      const v1 = ['blkio.throttle.io_service_bytes_recursive', 'blkio.throttle.io_service_bytes'];
      const name = (version === 2 ? ['io.stat'] : v1).find(
        (one) => typeof machine.read(`${dir}/${one}`) === 'string',
      );
      if (name !== undefined) this.#io = { version, file: machine.open(`${dir}/${name}`) };
    }
  }

  read(): Counters {
    const counters: Counters = new Map();
    const stolen = steal(this.#stat.text(), this.#cpus);
    if (stolen !== undefined) counters.set('stealUsec', stolen * USEC_PER_TICK);
    for (const [kind, file] of this.#pressures) pressure(file.text(), kind, counters);
    if (this.#io) ioBytes(this.#io.file.text(), this.#io.version, counters);
    return counters;
  }

  close(): void {
    for (const file of [this.#stat, this.#io?.file, ...this.#pressures.map(([, one]) => one)]) file?.close();
  }
}

/** What passed between two readings; a counter that went backwards (reset, other devices) is left out. */
export const passed = (from: Counters, to: Counters): Surroundings => {
  const result: Surroundings = {};
  for (const [key, end] of to) {
    const start = from.get(key);
    if (start !== undefined && end >= start) result[key] = Number(end - start);
  }
  return result;
};

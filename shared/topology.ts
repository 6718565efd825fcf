import { parseCpuList } from './cpu-list.ts';
import { cpuInfo } from './cpuinfo.ts';
import type { Machine } from './machine.ts';

const CPUS = '/sys/devices/system/cpu';

/** What is known of one CPU; a key is absent where the machine doesn't say. */
export interface Core {
  cpu: number;
  /** CPUs of the same physical core, itself among them. */
  siblings?: number[];
  /** `core` and `atom` on hybrid x86; implementer and part on arm64. */
  type?: string;
  /** The scheduler's measure: 1024 is the fastest core of the machine. */
  capacity?: number;
  /** NUMA node. */
  node?: number;
}

const cpusIn = (machine: Machine, path: string): number[] => {
  const text = machine.word(path);
  return text === undefined ? [] : (parseCpuList(text) ?? []);
};

/** CPUs that run now. */
export const onlineCpus = (machine: Machine): number[] => cpusIn(machine, `${CPUS}/online`);

/** CPUs kept free of the scheduler's balancing. */
export const isolatedCpus = (machine: Machine): number[] => cpusIn(machine, `${CPUS}/isolated`);

/** Whether the clock may go beyond its nominal frequency; `undefined` when no driver says. */
export const boost = (machine: Machine): boolean | undefined => {
  const on = machine.word(`${CPUS}/cpufreq/boost`);
  if (on === '0' || on === '1') return on === '1';
  const off = machine.word(`${CPUS}/intel_pstate/no_turbo`);
  return off === '0' || off === '1' ? off === '0' : undefined;
};

/** `on`, `off`, `forceoff`, `notsupported`, …: the kernel's word for SMT. */
export const smtControl = (machine: Machine): string | undefined => machine.word(`${CPUS}/smt/control`);

/** All that is known of these CPUs. */
export const coresOf = (machine: Machine, cpus: readonly number[]): Core[] => {
  const types = new Map<number, string>(cpuInfo(machine.read('/proc/cpuinfo') ?? '').parts);
  for (const type of ['core', 'atom'])
    for (const cpu of cpusIn(machine, `/sys/devices/cpu_${type}/cpus`)) types.set(cpu, type);
  const nodes = new Map<number, number>();
  for (const name of machine.list('/sys/devices/system/node')) {
    const node = /^node(\d+)$/.exec(name)?.[1];
    if (node !== undefined)
      for (const cpu of cpusIn(machine, `/sys/devices/system/node/${name}/cpulist`))
        nodes.set(cpu, Number(node));
  }
  return cpus.map((cpu) => {
    const of = `${CPUS}/cpu${cpu}`;
    const siblings =
      machine.word(`${of}/topology/core_cpus_list`) ?? machine.word(`${of}/topology/thread_siblings_list`);
    const capacity = machine.word(`${of}/cpu_capacity`);
    const type = types.get(cpu);
    const node = nodes.get(cpu);
    return {
      cpu,
      ...(siblings ? { siblings: parseCpuList(siblings) ?? [cpu] } : {}),
      ...(type === undefined ? {} : { type }),
      ...(capacity !== undefined && /^\d+$/.test(capacity) ? { capacity: Number(capacity) } : {}),
      ...(node === undefined ? {} : { node }),
    };
  });
};

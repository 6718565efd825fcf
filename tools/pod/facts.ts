import type { CompactPlan } from '../../schemas/plan.ts';
import { type Cgroup, cpuQuota, memoryMax } from '../../shared/cgroup.ts';
import { allowedListOf, formatCpuList, parseCpuList } from '../../shared/cpu-list.ts';
import { cpuInfo } from '../../shared/cpuinfo.ts';
import { mountOf } from '../../shared/mounts.ts';
import type { Machine } from '../../shared/machine.ts';
import type { Place } from './place.ts';
import { boost, type Core, coresOf, isolatedCpus, onlineCpus, smtControl } from '../../shared/topology.ts';

/** The CPUs of this machine as a session sees them. */
export interface Cpus {
  model: string;
  features: string;
  online: number[];
  /** `Cpus_allowed_list` as the kernel writes it. */
  allowedList: string;
  /** The allowed cores that are online, with what is known of them. */
  allowed: Core[];
}

/** The cores that are online and those that this process may use, with what `/proc` and `/sys` say of them. */
export const cpusOf = (machine: Machine): Cpus => {
  const { model, features } = cpuInfo(machine.read('/proc/cpuinfo') ?? '');
  const online = onlineCpus(machine);
  const allowedList = allowedListOf(machine.read('/proc/self/status')) ?? '';
  const allowed = (parseCpuList(allowedList) ?? []).filter(
    (cpu) => online.length === 0 || online.includes(cpu),
  );
  return { model, features, online, allowedList, allowed: coresOf(machine, allowed) };
};

/** The kubelet's checkpoint, where the session can see it: with the static policy, cores outside the default set have one owner. */
const ownedByKubelet = (machine: Machine, cpus: readonly number[]): boolean => {
  try {
    const state = JSON.parse(machine.read('/var/lib/kubelet/cpu_manager_state') ?? 'null') as {
      policyName?: string;
      defaultCpuSet?: string;
    } | null;
    const others = parseCpuList(state?.defaultCpuSet ?? '');
    return (
      state?.policyName === 'static' && others !== undefined && cpus.every((cpu) => !others.includes(cpu))
    );
  } catch {
    return false;
  }
};

/** Whether anybody else may use the measured cores (spec §5). */
export const cpuSetOf = (
  machine: Machine,
  delivery: CompactPlan['delivery'],
  plan: Pick<CompactPlan, 'cpus' | 'pin'>,
  cpus: Pick<Cpus, 'online' | 'allowed'>,
): 'exclusive' | 'shared' => {
  const allowed = cpus.allowed.map((core) => core.cpu);
  if (delivery === 'local') {
    const isolated = isolatedCpus(machine);
    const used = plan.pin === 'auto' || plan.pin === 'none' ? allowed : (parseCpuList(plan.pin) ?? []);
    return used.length > 0 && used.every((cpu) => isolated.includes(cpu)) ? 'exclusive' : 'shared';
  }
  if (allowed.length !== plan.cpus) return 'shared';
  return allowed.length < cpus.online.length || ownedByKubelet(machine, allowed) ? 'exclusive' : 'shared';
};

/** Numbers of a `name value` file. */
const counters = (text: string | null | undefined): Record<string, number> =>
  Object.fromEntries(
    [...(text ?? '').matchAll(/^(\S+) (\d+)$/gm)].map(([, key, value]) => [key!, Number(value)]),
  );

/** CPUs by what they have in common: `{"core": "0-7", "atom": "8-15"}`. */
const grouped = (
  cores: readonly Core[],
  of: (core: Core) => string | number | undefined,
): Record<string, string> => {
  const groups = new Map<string, number[]>();
  for (const core of cores) {
    const key = of(core);
    if (key !== undefined) groups.set(String(key), [...(groups.get(String(key)) ?? []), core.cpu]);
  }
  return Object.fromEntries([...groups].map(([key, cpus]) => [key, formatCpuList(cpus)]));
};

/** A group that isn't known is left out. */
const known = (name: string, group: Record<string, string>): Record<string, unknown> =>
  Object.keys(group).length > 0 ? { [name]: group } : {};

/** What the machine itself says, as fields of the facts line. The `cpu…` fields and those up to `loadavg` are the spec's. */
export const machineFacts = (
  machine: Machine,
  cgroup: Cgroup,
  cpus: Cpus,
  plan: Pick<CompactPlan, 'cpus' | 'pin'>,
  place: Pick<Place, 'delivery'>,
  data: string,
): Record<string, unknown> => {
  const quota = cpuQuota(machine, cgroup);
  const boosts = boost(machine);
  const smt = smtControl(machine);
  const isolated = isolatedCpus(machine);
  const fixtures = mountOf(machine, data);
  return {
    kernel: machine.word('/proc/sys/kernel/osrelease') ?? '',
    cpuModel: cpus.model,
    cpuFeatures: cpus.features,
    cpusOnline: formatCpuList(cpus.online),
    cpusAllowed: cpus.allowedList,
    requestedCpus: plan.cpus,
    cpuSet: cpuSetOf(machine, place.delivery, plan, cpus),
    cgroup: cgroup.kind,
    cpuMax: quota.cpuMax,
    memoryMax: memoryMax(machine, cgroup),
    cpuStat: quota.dir === undefined ? {} : counters(machine.read(`${quota.dir}/cpu.stat`)),
    loadavg: (machine.word('/proc/loadavg') ?? '').split(' ').slice(0, 3).join(' '),
    ...(cgroup.reason === undefined ? {} : { cgroupReason: cgroup.reason }),
    ...(quota.dir === undefined ? {} : { cpuStatOf: quota.dir }),
    ...(boosts === undefined ? {} : { boost: boosts }),
    ...(smt === undefined ? {} : { smt }),
    ...(isolated.length > 0 ? { cpusIsolated: formatCpuList(isolated) } : {}),
    ...known(
      'coreTypes',
      grouped(cpus.allowed, (core) => core.type),
    ),
    ...known(
      'coreCapacities',
      grouped(cpus.allowed, (core) => core.capacity),
    ),
    ...known(
      'numaNodes',
      grouped(cpus.allowed, (core) => core.node),
    ),
    ...(fixtures ? { fixtures } : {}),
  };
};

/** The cores that a session may measure on: how many, whose, of which kind, and whether it can pin to them. Pure. */
import { allowedListOf, formatCpuList, parseCpuList } from '../../../shared/cpu-list.ts';
import type { Machine } from '../../../shared/machine.ts';
import { type Core, coresOf, isolatedCpus, onlineCpus, smtControl } from '../../../shared/topology.ts';
import { area, type Check, type Finding } from './finding.ts';

const { ok, warn, fail } = area('cores');

/** CPUs that a session has unless `--cpus` says otherwise. */
const DEFAULT_CPUS = 2;

/** The cores that this process may use and that run. */
export const allowedCores = (machine: Machine): Core[] => {
  const online = onlineCpus(machine);
  const listed = parseCpuList(allowedListOf(machine.read('/proc/self/status')) ?? '') ?? [];
  return coresOf(
    machine,
    listed.filter((cpu) => online.length === 0 || online.includes(cpu)),
  );
};

const list = (cores: readonly Core[]): string => formatCpuList(cores.map((core) => core.cpu));

const allowed = (cores: readonly Core[], online: number): Finding => {
  const found = `${cores.length} of ${online} CPUs: ${list(cores)}`;
  if (cores.length === 0)
    return fail(
      'allowed',
      "'/proc/self/status' names no CPU",
      'a session reads there where it may run',
      'run it on Linux, with /proc mounted',
    );
  if (cores.length === 1)
    return warn(
      'allowed',
      found,
      'the harness has no core of its own: its work counts as time of the measured process',
      'allow this process a second CPU',
    );
  return cores.length <= DEFAULT_CPUS
    ? warn(
        'allowed',
        found,
        `a session measures on ${DEFAULT_CPUS} unless told otherwise, so everything else runs there too`,
        "measure programs of one thread with '--cpus 1', or allow this process more CPUs",
      )
    : ok(
        'allowed',
        found,
        `a session measures on the ${DEFAULT_CPUS} quietest, or on as many as '--cpus' says`,
      );
};

const pinning: Check = ({ trials: { pin } }) => {
  const means = 'measured processes stay on their cores';
  const remedy = "install util-linux, or measure with '--pin none': processes then move between cores";
  if (typeof pin === 'string') return [warn('pinning', pin, "a session can't pin", remedy)];
  return pin.got === pin.wanted
    ? [ok('pinning', `'taskset' pins, read back from a process`, means)]
    : [
        warn(
          'pinning',
          `a process pinned to '${pin.wanted}' may run on '${pin.got}'`,
          'something moves processes away from where they were put',
          "stop what changes affinities, or measure with '--pin none'",
        ),
      ];
};

const isolation = (machine: Machine, cores: readonly Core[]): Finding => {
  const isolated = isolatedCpus(machine);
  const usable = cores.filter((core) => isolated.includes(core.cpu));
  if (usable.length > 0)
    return ok(
      'isolated',
      `CPUs ${list(usable)}`,
      `with '--pin ${list(usable)}' nothing else is scheduled there, and wall times are judged too`,
    );
  const means = 'other work may run on the measured cores: CPU times are judged, wall times only shown';
  return isolated.length > 0
    ? warn(
        'isolated',
        `CPUs ${formatCpuList(isolated)}, none of which this process may use`,
        means,
        `start it with 'taskset -c ${formatCpuList(isolated)}', and measure with '--pin'`,
      )
    : warn(
        'isolated',
        'none',
        means,
        "boot with isolcpus=LIST nohz_full=LIST rcu_nocbs=LIST, and measure with '--pin LIST'",
      );
};

/** The threads that a session can have without two on one core: the first allowed one of each. */
const onePerCore = (cores: readonly Core[]): Core[] =>
  cores.filter(({ cpu, siblings }) => !cores.some((one) => one.cpu < cpu && siblings?.includes(one.cpu)));

const smt = (machine: Machine, cores: readonly Core[]): Finding => {
  const online = onlineCpus(machine);
  const others = (core: Core): number[] =>
    (core.siblings ?? []).filter((cpu) => cpu !== core.cpu && online.includes(cpu));
  if (cores.every((core) => others(core).length === 0))
    return ok(
      'smt',
      cores.some((core) => core.siblings)
        ? 'one thread on each core'
        : `not told${smtControl(machine) ? ` (${smtControl(machine)})` : ''}`,
      'no measured core is shared with a sibling that is known',
    );
  const single = onePerCore(cores);
  return warn(
    'smt',
    `${cores.filter((core) => others(core).length > 0).length} of ${cores.length} CPUs have a sibling on their core`,
    'what runs on the sibling slows the measured process down, and nothing shows it',
    single.length < cores.length
      ? `choose from '--pin ${list(single)}' and leave the siblings idle, or as root: echo off > /sys/devices/system/cpu/smt/control`
      : 'keep the siblings idle, or as root: echo off > /sys/devices/system/cpu/smt/control',
  );
};

/** Cores by what sets them apart, the fast kind first. */
const kinds = (cores: readonly Core[]): Map<string, Core[]> => {
  const groups = new Map<string, Core[]>();
  for (const core of cores.toSorted(
    (a, b) =>
      (b.capacity ?? 0) - (a.capacity ?? 0) || (a.type === 'atom' ? 1 : 0) - (b.type === 'atom' ? 1 : 0),
  )) {
    const capacity = core.capacity === undefined ? undefined : `capacity ${core.capacity}`;
    const key = [core.type, capacity].filter((one) => one !== undefined).join(', ');
    groups.set(key, [...(groups.get(key) ?? []), core]);
  }
  return groups;
};

const types = (cores: readonly Core[]): Finding => {
  const groups = [...kinds(cores)];
  const found = groups.map(([kind, members]) => `${kind}: ${list(members)}`).join('; ');
  return groups.length < 2
    ? ok(
        'types',
        groups[0]?.[0] ? `all ${groups[0][0]}` : 'all alike, as far as it is told',
        'any core measures the same',
      )
    : warn(
        'types',
        found,
        'the same program is slower on some cores than on others',
        `measure on one kind: '--pin ${list(groups[0]![1])}'`,
      );
};

const memoryNodes = (cores: readonly Core[]): Finding[] => {
  const nodes = Map.groupBy(cores, (core) => core.node);
  if (nodes.size < 2) return [];
  const [[, first]] = nodes as unknown as [[number, Core[]]];
  return [
    warn(
      'numa',
      [...nodes].map(([node, members]) => `node ${node}: ${list(members)}`).join('; '),
      'memory of the other node is further away, and where it lies differs from process to process',
      `measure within one node: '--pin ${list(first)}'`,
    ),
  ];
};

export const cores: Check = (sight) => {
  const { machine } = sight;
  const usable = allowedCores(machine);
  const first = allowed(usable, Math.max(onlineCpus(machine).length, usable.length));
  return usable.length === 0
    ? [first]
    : [
        first,
        ...pinning(sight),
        isolation(machine, usable),
        smt(machine, usable),
        types(usable),
        ...memoryNodes(usable),
      ];
};

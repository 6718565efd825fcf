import { formatCpuList, parseCpuList } from '../../shared/cpu-list.ts';
import { SessionError } from './session-error.ts';
import type { Core } from '../../shared/topology.ts';

/** Which cores are measured. */
export interface Pin {
  method: 'all-allowed' | 'quietest' | 'list' | 'none';
  /** The pinned cores; without a pin, every allowed core. */
  cpus: number[];
  /** Idle share (0–1) of each candidate core; empty unless method is `quietest`. */
  idle: Map<number, number>;
}

/** Ticks of each CPU: idle (idle + iowait) and all. */
const ticks = (stat: string): Map<number, { idle: number; all: number }> => {
  const found = new Map<number, { idle: number; all: number }>();
  for (const [, cpu, rest] of stat.matchAll(/^cpu(\d+) (.*)$/gm)) {
    // guest and guest_nice, the last two, are counted in user and nice already.
    const values = rest!.trim().split(/\s+/).slice(0, 8).map(Number);
    found.set(Number(cpu), {
      idle: (values[3] ?? 0) + (values[4] ?? 0),
      all: values.reduce((sum, one) => sum + one, 0),
    });
  }
  return found;
};

/** Idle share of each CPU between two readings of `/proc/stat`. A CPU that no tick passed on counts as busy. */
export const idleShares = (before: string, after: string): Map<number, number> => {
  const [from, to] = [ticks(before), ticks(after)];
  const shares = new Map<number, number>();
  for (const [cpu, end] of to) {
    const start = from.get(cpu);
    const all = start ? end.all - start.all : 0;
    shares.set(cpu, start && all > 0 ? Math.max(0, (end.idle - start.idle) / all) : 0);
  }
  return shares;
};

/** How fast a core is, where the machine says so: by capacity, else performance cores before efficiency cores. */
const speed = (core: Core): number => core.capacity ?? (core.type === 'atom' ? 0 : 1);

/**
 * The `count` quietest cores. Largest idle share first; between equal shares the faster core, then one whose physical core
 * is free as a whole (no sibling is busier than itself), then the lower id.
 */
const quietest = (cores: readonly Core[], idle: ReadonlyMap<number, number>, count: number): number[] => {
  const share = (cpu: number): number => idle.get(cpu) ?? 0;
  const wholeFree = (core: Core): number =>
    (core.siblings ?? []).every((one) => share(one) >= share(core.cpu)) ? 1 : 0;
  return cores
    .toSorted(
      (a, b) =>
        share(b.cpu) - share(a.cpu) || speed(b) - speed(a) || wholeFree(b) - wholeFree(a) || a.cpu - b.cpu,
    )
    .slice(0, count)
    .map((core) => core.cpu)
    .toSorted((a, b) => a - b);
};

/**
 * Chooses the measured cores (spec §5). `wanted` is `auto`, `none` or a list; `cores` are the allowed ones; `watchIdle`
 * reads `/proc/stat` twice, 1 s apart, and is asked only when there is a choice.
 */
export const choosePin = async (
  wanted: string,
  count: number,
  cores: readonly Core[],
  watchIdle: () => Promise<Map<number, number>>,
): Promise<Pin> => {
  const allowed = cores.map((core) => core.cpu);
  if (wanted === 'none') return { method: 'none', cpus: allowed, idle: new Map() };
  if (wanted !== 'auto') {
    // taskset silently drops what isn't allowed, so the list is compared before it is used.
    const cpus = parseCpuList(wanted) ?? [];
    const outside = cpus.filter((cpu) => !allowed.includes(cpu));
    if (outside.length > 0 || cpus.length === 0)
      throw new SessionError(
        'pin',
        `can't pin to '${wanted}': ${outside.length > 0 ? `'${formatCpuList(outside)}' lies outside the allowed cores '${formatCpuList(allowed)}'` : 'it names no core'}; ` +
          'choose from the allowed ones with --pin',
      );
    return { method: 'list', cpus, idle: new Map() };
  }
  if (allowed.length <= count) return { method: 'all-allowed', cpus: allowed, idle: new Map() };
  const idle = await watchIdle();
  // Offline or hidden CPUs have no line in /proc/stat: they are no candidates.
  const candidates = cores.filter((core) => idle.has(core.cpu));
  if (candidates.length === 0)
    throw new SessionError(
      'pin',
      "can't find the quietest cores: '/proc/stat' shows no allowed core; name them with --pin",
    );
  return {
    method: 'quietest',
    cpus: quietest(candidates, idle, count),
    idle: new Map(candidates.map((core) => [core.cpu, idle.get(core.cpu)!])),
  };
};

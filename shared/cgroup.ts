import { dirname } from 'node:path';
import type { Machine } from './machine.ts';
import { mountLines } from './mounts.ts';

/** Where this process's cgroup is, per kind of reading; paths are directories below the machine's root. */
export interface Cgroup {
  /** `hybrid`: v1 controllers with a v2 hierarchy beside them. */
  kind: 'v1' | 'v2' | 'hybrid' | 'none';
  /** Why readings are missing, when kind is `none`. */
  reason?: string;
  /** Directory and top (mount point) of the hierarchy that has the readings. */
  usage?: Place;
  cpu?: Place;
  memory?: Place;
  io?: Place;
  cpuset?: Place;
  /** The v2 hierarchy, for pressure. */
  unified?: Place;
}

/** A cgroup in one hierarchy: its directory, and that of the hierarchy's top. */
export interface Place {
  version: 1 | 2;
  dir: string;
  top: string;
}

interface Mount {
  root: string;
  point: string;
  type: string;
  /** v1: its controllers. */
  controllers: string[];
}

/** Paths of this process's cgroups by controller (`''`: the v2 hierarchy), from `/proc/self/cgroup`. */
const membership = (text: string): Map<string, string> => {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const found = /^\d+:([^:]*):(.*)$/.exec(line);
    if (found) for (const controller of found[1]!.split(',')) paths.set(controller, found[2]!);
  }
  return paths;
};

const within = (path: string, root: string): boolean =>
  root === '/' || path === root || path.startsWith(`${root}/`);

/**
 * The directory of a cgroup path under one of its hierarchy's mounts. A path that no mount shows (a container without a
 * cgroup namespace that sees only its own part, or a path above the namespace's root) is the mount point itself.
 */
const placeOf = (mounts: readonly Mount[], path: string, version: 1 | 2): Place | undefined => {
  if (mounts.length === 0) return undefined;
  const shown = mounts
    .filter((mount) => within(path, mount.root) && !path.startsWith('/..'))
    .toSorted((a, b) => b.root.length - a.root.length)[0];
  if (!shown) return { version, dir: mounts[0]!.point, top: mounts[0]!.point };
  const below = shown.root === '/' ? path : path.slice(shown.root.length);
  return { version, dir: `${shown.point}${below}`.replace(/\/$/, ''), top: shown.point };
};

/** Finds the cgroup of this process, on v1 (joint or separate mounts), v2 and hybrid hosts. */
export const locateCgroup = (machine: Machine): Cgroup => {
  const mounts: Mount[] = mountLines(machine.read('/proc/self/mountinfo') ?? '')
    .filter((mount) => mount.type === 'cgroup' || mount.type === 'cgroup2')
    .map(({ root, point, type, options }) => ({ root, point, type, controllers: options }));
  const paths = membership(machine.read('/proc/self/cgroup') ?? '');
  const v2 = mounts.filter((mount) => mount.type === 'cgroup2');
  const v1 = mounts.filter((mount) => mount.type === 'cgroup');
  const unified = placeOf(v2, paths.get('') ?? '/', 2);
  const first = (...controllers: string[]): Place | undefined => {
    for (const controller of controllers) {
      const path = paths.get(controller);
      const place =
        path === undefined
          ? undefined
          : placeOf(
              v1.filter((mount) => mount.controllers.includes(controller)),
              path,
              1,
            );
      if (place) return place;
    }
    return unified;
  };
  if (mounts.length === 0) return { kind: 'none', reason: 'no cgroup hierarchy is mounted' };
  const usage = first('cpuacct');
  if (!usage) return { kind: 'none', reason: 'no cgroup hierarchy that counts CPU time is mounted' };
  const places = {
    usage,
    cpu: first('cpu'),
    memory: first('memory'),
    io: first('blkio'),
    cpuset: first('cpuset'),
  };
  const known = Object.entries({ ...places, unified }).filter(([, place]) => place !== undefined);
  return {
    kind: v1.length === 0 ? 'v2' : v2.length === 0 ? 'v1' : 'hybrid',
    ...(Object.fromEntries(known) as Omit<Cgroup, 'kind'>),
  };
};

/** A cgroup's directory and those above it, nearest first, up to the mount. */
const upward = (place: Place): string[] => {
  const dirs: string[] = [];
  for (let dir = place.dir; ; dir = dirname(dir)) {
    dirs.push(dir);
    if (dir === place.top || dir.length <= place.top.length) return dirs;
  }
};

/** Whether this is the root of its hierarchy: then its readings are the whole machine's. Only roots lack / have these files. */
export const isMachineRoot = (machine: Machine, place: Place): boolean =>
  place.version === 2
    ? machine.read(`${place.dir}/cgroup.type`) === undefined
    : machine.read(`${place.dir}/release_agent`) !== undefined;

/** The CPU quota of one directory as `cpu.max` writes it: `<quota> <period>` in µs, or `max <period>`. */
const quotaOf = (machine: Machine, version: 1 | 2, dir: string): string | undefined => {
  if (version === 2) return machine.word(`${dir}/cpu.max`);
  const [quota, period] = [machine.word(`${dir}/cpu.cfs_quota_us`), machine.word(`${dir}/cpu.cfs_period_us`)];
  if (quota === undefined || period === undefined) return undefined;
  return `${quota.startsWith('-') ? 'max' : quota} ${period}`;
};

/**
 * The CPU limit that counts, and the directory whose cpu.stat shows its throttling: the nearest one upward that has a quota,
 * because a cgroup below it sees only its own. Without any quota, the own directory.
 */
export const cpuQuota = (machine: Machine, cgroup: Cgroup): { dir?: string; cpuMax: string | null } => {
  if (!cgroup.cpu) return { cpuMax: null };
  for (const dir of upward(cgroup.cpu)) {
    const quota = quotaOf(machine, cgroup.cpu.version, dir);
    if (quota !== undefined && !quota.startsWith('max')) return { dir, cpuMax: quota };
  }
  return { dir: cgroup.cpu.dir, cpuMax: quotaOf(machine, cgroup.cpu.version, cgroup.cpu.dir) ?? null };
};

/** v1 writes "no limit" as the largest number of whole pages. */
const UNLIMITED = 2n ** 62n;

/** The memory limit that counts, bytes, the smallest one upward; `max` without any; null when it can't be read. */
export const memoryMax = (machine: Machine, cgroup: Cgroup): string | null => {
  if (!cgroup.memory) return null;
  const file = cgroup.memory.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
  let smallest: bigint | undefined;
  let seen = false;
  for (const dir of upward(cgroup.memory)) {
    const text = machine.word(`${dir}/${file}`);
    if (text === undefined) continue;
    seen = true;
    if (/^\d+$/.test(text) && BigInt(text) < UNLIMITED && (smallest === undefined || BigInt(text) < smallest))
      smallest = BigInt(text);
  }
  return smallest?.toString() ?? (seen ? 'max' : null);
};

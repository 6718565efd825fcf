/**
 * A leaf cgroup of our own for the session's processes, so that their CPU time is counted apart from everything else that
 * shares the runner's cgroup. cgroup v1 where cpuacct is mounted, else v2; none where it can't be made.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { signal } from './processes.ts';

/** What the choice depends on: /proc/self/mountinfo, /proc/self/cgroup, and files of the cgroup file systems. */
export interface CgroupView {
  mountinfo: string;
  cgroup: string;
  /** A file's text; undefined when it can't be read. */
  read(path: string): string | undefined;
}

interface Mount {
  root: string;
  point: string;
  type: string;
  options: string[];
}

const mountsOf = (mountinfo: string): Mount[] =>
  mountinfo
    .split('\n')
    .filter((line) => line.includes(' - '))
    .map((line) => {
      const [before, after] = line.split(' - ') as [string, string];
      // Blanks in paths are written as \040 (proc(5)).
      const [, , , root, point] = before
        .split(' ')
        .map((field) =>
          field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
            String.fromCharCode(Number.parseInt(octal, 8)),
          ),
        );
      const [type, , options] = after.split(' ');
      return { root: root!, point: point!, type: type!, options: (options ?? '').split(',') };
    });

/** The directory of this process's own cgroup in a mounted hierarchy; the mount point when it lies outside what is mounted. */
const directoryOf = (mount: Mount, path: string): string => {
  const inside = relative(mount.root, path);
  return inside.startsWith('..') ? mount.point : join(mount.point, inside);
};

/** Whether the cgroup or one above it has a CPU quota. */
const hasQuota = (view: CgroupView, mount: Mount, directory: string): boolean => {
  for (let at = directory; ; at = dirname(at)) {
    const v1 = view.read(join(at, 'cpu.cfs_quota_us'));
    const v2 = view.read(join(at, 'cpu.max'));
    if ((v1 !== undefined && Number(v1) > 0) || (v2 !== undefined && !v2.startsWith('max'))) return true;
    if (at === mount.point || at === dirname(at)) return false;
  }
};

/**
 * The cgroup directory under which a leaf counts CPU time without hiding anything, or undefined. Where CPU accounting and
 * CPU quota share a hierarchy, a leaf has throttling counters of its own, which stay 0: under a quota there is no leaf.
 */
export const parentOfLeaf = (view: CgroupView): string | undefined => {
  const own = view.cgroup.split('\n').map((line) => {
    const [, controllers = '', ...path] = line.split(':');
    return { controllers: controllers.split(','), path: path.join(':') };
  });
  const mounts = mountsOf(view.mountinfo);
  const v1 = mounts.find((one) => one.type === 'cgroup' && one.options.includes('cpuacct'));
  const mount = v1 ?? mounts.find((one) => one.type === 'cgroup2');
  const path = own.find((one) => one.controllers.includes(v1 ? 'cpuacct' : ''))?.path;
  if (!mount || !path) return undefined;
  const directory = directoryOf(mount, path);
  const joint = mount.type === 'cgroup2' || mount.options.includes('cpu');
  return joint && hasQuota(view, mount, directory) ? undefined : directory;
};

const readable = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Where a leaf of the given name would be; undefined where none would count right. */
export const leafPath = (name: string): string | undefined => {
  const parent = parentOfLeaf({
    mountinfo: readable('/proc/self/mountinfo') ?? '',
    cgroup: readable('/proc/self/cgroup') ?? '',
    read: readable,
  });
  return parent === undefined ? undefined : join(parent, name);
};

/** Makes a leaf and moves a process into it; false when that isn't possible here. */
export const enterLeaf = (leaf: string, pid: number): boolean => {
  try {
    mkdirSync(leaf);
  } catch {
    return false;
  }
  try {
    writeFileSync(join(leaf, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    rmdirSync(leaf);
    return false;
  }
};

/** Processes in a cgroup and in those below it; one that this process can't see is shown as 0. */
const membersOf = (leaf: string): number[] => [
  ...(readable(join(leaf, 'cgroup.procs')) ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid),
  ...innerOf(leaf).flatMap(membersOf),
];

const innerOf = (leaf: string): string[] => {
  try {
    return readdirSync(leaf, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(leaf, entry.name));
  } catch {
    return [];
  }
};

/** Kills what is left in a leaf; returns how many there were. */
export const killMembers = (leaf: string): number => {
  const left = membersOf(leaf);
  for (const pid of left) signal(pid, 'SIGKILL');
  return left.length;
};

/** Removes an emptied leaf; false while the kernel still counts a process in it. */
export const removeLeaf = (leaf: string): boolean => {
  try {
    for (const inner of innerOf(leaf)) removeLeaf(inner);
    rmdirSync(leaf);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
};

/**
 * A leaf cgroup of our own for the session's processes, so that their CPU time is counted apart from everything else that
 * shares the runner's cgroup. cgroup v1 where cpuacct is mounted, else v2; none where it can't be made.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuQuota, locateCgroup } from '../../shared/cgroup.ts';
import type { Machine } from '../../shared/machine.ts';
import { signal } from './processes.ts';

/**
 * The cgroup directory under which a leaf counts CPU time without hiding anything, or undefined. Where CPU accounting and
 * CPU quota share a hierarchy, a leaf has throttling counters of its own, which stay 0: under a quota there is no leaf.
 */
export const parentOfLeaf = (machine: Machine): string | undefined => {
  const cgroup = locateCgroup(machine);
  const joint = cgroup.usage?.dir === cgroup.cpu?.dir;
  const { cpuMax } = cpuQuota(machine, cgroup);
  return joint && cpuMax !== null && !cpuMax.startsWith('max') ? undefined : cgroup.usage?.dir;
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
const membersOf = (leaf: string): number[] => [...procsOf(leaf), ...innerOf(leaf).flatMap(membersOf)];

const procsOf = (leaf: string): number[] => {
  try {
    return readFileSync(join(leaf, 'cgroup.procs'), 'utf8')
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
};

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

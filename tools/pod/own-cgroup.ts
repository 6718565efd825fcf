import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cgroup } from '../../shared/cgroup.ts';
import type { Machine } from '../../shared/machine.ts';

/** A cgroup of the session's own: nothing but the harness and what it starts is in it. */
export interface OwnCgroup {
  dir: string;
  /** Ids of its processes. */
  processes(): number[];
  /** Moves the harness back and removes it. */
  leave(): void;
}

const PREFIX = 'k8sbench-session-';

/** Removes cgroups of sessions that were killed: theirs is the process id in the name. */
const removeStale = (machine: Machine, parent: string): void => {
  for (const name of machine.list(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)$`).exec(name)?.[1];
    if (pid === undefined || machine.read(`/proc/${pid}/stat`) !== undefined) continue;
    try {
      rmdirSync(join(machine.root, parent, name));
    } catch {
      // Somebody is still in it; it isn't ours to empty.
    }
  }
};

/**
 * Makes a leaf below the own cgroup, in the hierarchy that counts CPU time, and moves the harness into it: its usage is then
 * the session's alone, and its process list is the truth about what was left behind. Returns the reason when it can't.
 */
export const enterOwnCgroup = (machine: Machine, cgroup: Cgroup, pid: number): OwnCgroup | string => {
  if (!cgroup.usage) return cgroup.reason ?? 'no cgroup counts CPU time';
  const parent = cgroup.usage.dir;
  const dir = `${parent}/${PREFIX}${pid}`;
  const path = join(machine.root, dir);
  removeStale(machine, parent);
  try {
    mkdirSync(path);
  } catch (error) {
    return `no cgroup of its own can be made (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
  }
  const procs = join(path, 'cgroup.procs');
  try {
    writeFileSync(procs, String(pid));
  } catch (error) {
    rmdirSync(path);
    return `it can't move into a cgroup of its own (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
  }
  return {
    dir,
    processes() {
      // Opened each time: cgroup v1 tells a file that stays open for a second what it told it before.
      const members = machine.open(`${dir}/cgroup.procs`);
      const text = members.text() ?? '';
      members.close();
      return text.split('\n').filter(Boolean).map(Number);
    },
    leave() {
      try {
        writeFileSync(join(machine.root, parent, 'cgroup.procs'), String(pid));
        rmdirSync(path);
      } catch {
        // A process that can't be killed keeps it; the next session removes it.
      }
    },
  };
};

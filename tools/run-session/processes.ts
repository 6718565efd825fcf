import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../../schemas/job.ts';
import { isDead, processStat, type ProcessStat } from '../../shared/process-stat.ts';

const statOf = (pid: number): ProcessStat | undefined => {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
};

/** A process by pid and start time; undefined when there is none, or no /proc. */
export const identityOf = (pid: number): ProcessIdentity | undefined => {
  const stat = statOf(pid);
  return stat && { pid, start_ticks: stat.startTicks };
};

/** Whether this very process still runs: the same start time, and not a zombie that nobody has waited for. */
export const isAlive = ({ pid, start_ticks }: ProcessIdentity): boolean => {
  const stat = statOf(pid);
  return stat !== undefined && stat.startTicks === start_ticks && !isDead(stat);
};

/** All descendants of a process, nearest first. */
export const descendantsOf = (pid: number): number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name)) {
      const parent = statOf(Number(name))?.parent;
      if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    }
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((one) => children.get(one) ?? []);
    found.push(...next);
  }
  return found;
};

/** Sends a signal; a process that has ended meanwhile is as good. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  // 0 and below are groups, and how a cgroup shows members that this process can't see.
  if (pid < 2 || pid === process.pid) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Kills a process with everything it started; it is stopped first, so that it can't start more meanwhile. */
export const killTree = (root: ProcessIdentity): void => {
  if (!isAlive(root)) return;
  signal(root.pid, 'SIGSTOP');
  for (const pid of [...descendantsOf(root.pid), root.pid]) signal(pid, 'SIGKILL');
};

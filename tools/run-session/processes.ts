import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../../schemas/job.ts';

/** What /proc says of a process: parent, state and start time in clock ticks since boot (proc(5), fields 3, 4 and 22). */
const statOf = (pid: number): { state: string; parent: number; start_ticks: number } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in field 2 may hold blanks and parentheses; what follows its last parenthesis has neither.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0]!, parent: Number(fields[1]), start_ticks: Number(fields[19]) };
  } catch {
    return undefined;
  }
};

/** A process by pid and start time; undefined when there is none, or no /proc. */
export const identityOf = (pid: number): ProcessIdentity | undefined => {
  const stat = statOf(pid);
  return stat && { pid, start_ticks: stat.start_ticks };
};

/** Whether this very process still runs: the same start time, and not a zombie that nobody has waited for. */
export const isAlive = ({ pid, start_ticks }: ProcessIdentity): boolean => {
  const stat = statOf(pid);
  return stat !== undefined && stat.start_ticks === start_ticks && stat.state !== 'Z' && stat.state !== 'X';
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

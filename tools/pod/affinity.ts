import { allowedListOf } from '../../shared/cpu-list.ts';
import type { Machine } from '../../shared/machine.ts';

/** Threads looked at in one check: enough for a large program, bounded for a huge one. */
const MOST = 128;

export interface OtherAffinity {
  /** The cores it may run on. */
  cpus: string;
  /** Name of the process or thread. */
  name: string;
}

const nameOf = (status: string): string => /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '?';

/**
 * Whether a process that was just started has not become the target yet: it is `taskset`, on its way to pin itself, or still a
 * copy of the harness, because a runtime need not wait for the exec.
 */
export const isOnItsWay = (machine: Machine, pid: number, { name }: OtherAffinity): boolean => {
  if (name === 'taskset') return true;
  const own = machine.read('/proc/self/cmdline');
  return typeof own === 'string' && own !== '' && own === machine.read(`/proc/${pid}/cmdline`);
};

/** The first thread of a process or its descendants whose allowed cores aren't `expected` (as the kernel writes them). */
export const otherAffinity = (machine: Machine, pid: number, expected: string): OtherAffinity | undefined => {
  const waiting = [String(pid)];
  let looked = 0;
  for (let process = waiting.shift(); process !== undefined && looked < MOST; process = waiting.shift())
    for (const thread of machine.list(`/proc/${process}/task`).slice(0, MOST - looked)) {
      looked++;
      const of = `/proc/${process}/task/${thread}`;
      const status = machine.read(`${of}/status`) ?? '';
      const cpus = allowedListOf(status);
      if (cpus !== undefined && cpus !== expected) return { cpus, name: nameOf(status) };
      waiting.push(...(machine.word(`${of}/children`) ?? '').split(' ').filter(Boolean));
    }
  return undefined;
};

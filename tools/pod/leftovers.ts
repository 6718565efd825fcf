import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '../../shared/machine.ts';
import { isDead, processStat, type ProcessStat } from '../../shared/process-stat.ts';
import type { OwnCgroup } from './own-cgroup.ts';

/** In the environment of every measured process and of all that inherit it; the value is the session's. */
export const MARKER = 'K8SBENCH_STEP';

/** How long what a process started may take to end after it, ms: a helper that sees its parent go is not left behind. */
const GRACE_MS = 100;
/** How long left-overs are killed again and again, ms. */
const KILL_MS = 2000;

/** A process that a step left behind. */
export interface Left {
  pid: number;
  name: string;
}

type Seen = ProcessStat & { pid: number };

/** PF_KTHREAD of the flags in `/proc/<pid>/stat`. */
const KERNEL_THREAD = 0x200000;

/** Whether any process, also a dead one nobody waited for, is in this group. */
export const groupExists = (group: number): boolean => {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
};

/** Kills a process group at once. */
export const killGroup = (group: number): void => kill(-group);

/**
 * Finds what a step left behind. With a cgroup of its own: whatever is in it beside the harness. Without: processes that are
 * new since the last look and carry the session's marker, belong to the step's process group or session, or are children
 * of the harness or (in a container, where orphans go to its first process) of process 1.
 */
export class Leftovers {
  #machine: Machine;
  #own: OwnCgroup | undefined;
  #marker: string;
  #adopts: ReadonlySet<number>;
  /** Processes that were looked at and aren't ours. */
  #known = new Set<number>();

  /** `inContainer`: process 1 is in the session's own cgroup, so that what it adopts was started by the session. */
  constructor(machine: Machine, own: OwnCgroup | undefined, marker: string, inContainer: boolean) {
    this.#machine = machine;
    this.#own = own;
    this.#marker = `${MARKER}=${marker}`;
    this.#adopts = new Set(inContainer ? [1, process.pid] : [process.pid]);
    if (!own) this.#known = new Set(this.#pids());
  }

  #pids(): number[] {
    return this.#machine
      .list('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }

  #look(pid: number): Seen | undefined {
    const text = this.#machine.read(`/proc/${pid}/stat`);
    const seen = text ? processStat(text) : undefined;
    return seen && !isDead(seen) && (seen.flags & KERNEL_THREAD) === 0 ? { pid, ...seen } : undefined;
  }

  /** Whether the session started it; unknown while it has no environment, as in the midst of an exec. */
  #isOurs(seen: Seen, groups: ReadonlySet<number>): boolean | undefined {
    if (groups.has(seen.group) || groups.has(seen.session) || this.#adopts.has(seen.parent)) return true;
    const environment = this.#machine.read(`/proc/${seen.pid}/environ`);
    return environment === '' ? undefined : (environment ?? '').split('\0').includes(this.#marker);
  }

  /** What is there now of the processes whose groups are given, and those that can't be told yet. */
  #find(groups: ReadonlySet<number>): { left: Left[]; unsure: number[] } {
    if (this.#own) {
      const others = this.#own.processes().filter((pid) => pid !== process.pid);
      return { left: others.flatMap((pid) => this.#look(pid) ?? []), unsure: [] };
    }
    const left: Left[] = [];
    const unsure: number[] = [];
    const known = new Set<number>();
    for (const pid of this.#pids()) {
      const seen = this.#known.has(pid) || pid === process.pid ? undefined : this.#look(pid);
      const ours = seen ? this.#isOurs(seen, groups) : false;
      if (ours === false) known.add(pid);
      else if (ours) left.push(seen!);
      else unsure.push(pid);
    }
    this.#known = known;
    return { left, unsure };
  }

  /** Looks again for a moment when it isn't sure; what has no environment then is somebody else's. */
  async #search(groups: ReadonlySet<number>): Promise<Left[]> {
    let { left, unsure } = this.#find(groups);
    for (let tries = 0; tries < 3 && unsure.length > 0; tries++) {
      await sleep(2);
      ({ left, unsure } = this.#find(groups));
    }
    for (const pid of unsure) this.#known.add(pid);
    return left;
  }

  /** Waits a moment for stragglers, kills what is still there, and says what that was. */
  async clear(groups: readonly number[], graceMs = GRACE_MS): Promise<Left[]> {
    const of = new Set(groups);
    let left = await this.#search(of);
    for (const end = performance.now() + graceMs; left.length > 0 && performance.now() < end;) {
      await sleep(5);
      left = await this.#search(of);
    }
    const first = left;
    for (const end = performance.now() + KILL_MS; left.length > 0 && performance.now() < end;) {
      for (const one of left) kill(one.pid);
      await sleep(5);
      left = await this.#search(of);
    }
    return first;
  }
}

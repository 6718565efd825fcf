import { readdirSync, readFileSync } from 'node:fs';

/** Reads a file of /proc; undefined when its process is gone. */
export type ReadFile = (path: string) => string | undefined;

export interface Proc {
  read: ReadFile;
  list(path: string): string[];
}

/** The machine's own /proc. */
export const PROC: Proc = {
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  list(path) {
    try {
      return readdirSync(path);
    } catch {
      return [];
    }
  },
};

/** In the environment of the agent and of all that inherit it. */
export const MARKER = 'K8SBENCH_AGENT';

export interface Memory {
  /** Sums over the processes that live now, MiB. */
  rss: number;
  /** Of their largest resident memory so far each. */
  peak: number;
}

/** What processes share counted once, and what is theirs alone, MiB. */
export interface Shares {
  rss: number;
  pss: number;
  anonymous: number;
}

const kib = (status: string, key: string): number =>
  Number(new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
const MIB = 1024;

/** A tick of the kernel's process times, ms: USER_HZ is 100 wherever Node runs. */
const TICK_MS = 10;

/** User and system time of a process, its ended threads included, ms; whole ticks of each, so at most two too few. */
const ticksOf = (stat: string | undefined): number => {
  const [user, system] = (stat ?? '')
    .slice((stat ?? '').lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user ?? 0) + Number(system ?? 0)) * TICK_MS;
};

/** Times that a process may be looked at before it has an environment: it is in the midst of an exec. */
const LOOKS = 4;

/**
 * A process and all that descend from it, as polling sees them. CPU time is the threads' own clocks in ns (`schedstat`), kept
 * of threads and processes that have ended since. Threads that lived and died between two looks are told by their process's
 * coarser time (`stat`, 10 ms), which counts them; a whole process that did so is not in it.
 */
export class ProcessTree {
  readonly #proc: Proc;
  readonly #marker: string;
  readonly #outside: ReadonlySet<number>;
  /** Process → thread → CPU time, ns. Dead ones stay. */
  readonly #clocks = new Map<number, Map<string, number>>();
  /** Process → CPU time that none of its seen threads used, ms. */
  readonly #unseen = new Map<number, number>();
  readonly #live = new Set<number>();
  #foreign: Set<string>;
  #unsure = new Map<string, number>();
  /** Largest sum of peaks seen, MiB. */
  #peak = 0;

  /**
   * `outside` are ours and not the agent's: this process, a helper that gives the agent its terminal. `before` are processes
   * that were there before the root: they are none of its, and need not be looked at.
   */
  constructor(
    root: number,
    marker: string,
    outside: readonly number[] = [],
    proc: Proc = PROC,
    before: readonly string[] = [],
  ) {
    this.#proc = proc;
    this.#foreign = new Set(before);
    this.#marker = `${MARKER}=${marker}`;
    this.#outside = new Set([process.pid, ...outside]);
    if (!this.#outside.has(root)) this.#add(root);
  }

  #add(pid: number): void {
    this.#live.add(pid);
    if (!this.#clocks.has(pid)) this.#clocks.set(pid, new Map());
  }

  /** Processes of the tree that were alive at the last look. */
  get live(): readonly number[] {
    return [...this.#live];
  }

  /** How many processes were ever seen. */
  get seen(): number {
    return this.#clocks.size;
  }

  #isOurs(pid: string): boolean | undefined {
    const stat = this.#proc.read(`/proc/${pid}/stat`);
    if (stat === undefined) return false;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (this.#clocks.has(parent)) return true;
    const environment = this.#proc.read(`/proc/${pid}/environ`);
    return environment === '' ? undefined : (environment ?? '').split('\0').includes(this.#marker);
  }

  /** Looks for processes that came and went. */
  scan(): void {
    const there = this.#proc.list('/proc').filter((name) => /^\d+$/.test(name));
    const foreign = new Set<string>();
    let fresh = there.filter((pid) => {
      if (this.#foreign.has(pid)) foreign.add(pid);
      return !this.#foreign.has(pid) && !this.#clocks.has(Number(pid)) && !this.#outside.has(Number(pid));
    });
    // A child may stand before its parent: look until nobody is found.
    for (let found = true; found && fresh.length > 0;) {
      found = false;
      fresh = fresh.filter((pid) => {
        if (this.#isOurs(pid) !== true) return true;
        this.#add(Number(pid));
        found = true;
        return false;
      });
    }
    const unsure = new Map<string, number>();
    for (const pid of fresh) {
      const looks = (this.#unsure.get(pid) ?? 0) + 1;
      if (this.#proc.read(`/proc/${pid}/environ`) === '' && looks < LOOKS) unsure.set(pid, looks);
      else foreign.add(pid);
    }
    this.#foreign = foreign;
    this.#unsure = unsure;
    const now = new Set(there);
    for (const pid of this.#live) if (!now.has(String(pid))) this.#live.delete(pid);
  }

  /** CPU time so far of everything that was seen, ms. */
  cpu(): number {
    let sum = 0;
    for (const [pid, threads] of this.#clocks) {
      const live = this.#live.has(pid);
      // Before the threads' own clocks, so that the difference is never more than what was missed.
      const ticks = live ? ticksOf(this.#proc.read(`/proc/${pid}/stat`)) : 0;
      if (live)
        for (const thread of this.#proc.list(`/proc/${pid}/task`)) {
          const ns = Number(this.#proc.read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0]);
          if (ns > 0) threads.set(thread, Math.max(ns, threads.get(thread) ?? 0));
        }
      const seen = [...threads.values()].reduce((all, ns) => all + ns, 0) / 1e6;
      const unseen = Math.max(this.#unseen.get(pid) ?? 0, ticks - seen);
      this.#unseen.set(pid, unseen);
      sum += seen + unseen;
    }
    return sum;
  }

  /** Memory of the processes that live now; remembers the largest sum of peaks. */
  memory(): Memory {
    let rss = 0;
    let peak = 0;
    for (const pid of this.#live) {
      const status = this.#proc.read(`/proc/${pid}/status`) ?? '';
      rss += kib(status, 'VmRSS');
      peak += kib(status, 'VmHWM');
    }
    this.#peak = Math.max(this.#peak, peak / MIB);
    return { rss: rss / MIB, peak: this.#peak };
  }

  /** Dear, so only where it is asked for. Undefined where the kernel tells of none, or not this user. */
  shares(): Shares | undefined {
    const sum = { rss: 0, pss: 0, anonymous: 0 };
    let told = 0;
    for (const pid of this.#live) {
      const rollup = this.#proc.read(`/proc/${pid}/smaps_rollup`);
      if (!rollup) continue;
      told++;
      sum.rss += kib(rollup, 'Rss') / MIB;
      sum.pss += kib(rollup, 'Pss') / MIB;
      sum.anonymous += kib(rollup, 'Anonymous') / MIB;
    }
    return told === 0 ? undefined : sum;
  }

  /** A process's own name. */
  nameOf(pid: number): string {
    return (this.#proc.read(`/proc/${pid}/comm`) ?? '').trim();
  }

  /** Clocks and memory of those that are known to live. */
  glance(): void {
    this.cpu();
    this.memory();
  }

  /** One look at everything. */
  look(): void {
    this.scan();
    this.cpu();
    this.memory();
  }

  /** Whether a process that isn't dead is left. A dead one that nobody waited for counts as gone. */
  alive(): number[] {
    this.scan();
    return this.live.filter((pid) => {
      const stat = this.#proc.read(`/proc/${pid}/stat`);
      return stat !== undefined && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
    });
  }
}

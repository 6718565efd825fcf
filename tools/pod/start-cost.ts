import type { Machine, Reread } from '../../shared/machine.ts';

/**
 * What a start on Node takes before the program is there, ms. It is Node's work and not the program's: Node copies its whole
 * memory map for a start and throws the copy away again, which takes a millisecond. (Bun starts programs as others do, without
 * a copy.)
 *
 * Node comes back from a start when the program has taken the copy's place, or, on a busy machine, some time later: then part of
 * the wait was the program's time already. So of each start only Node's CPU time counts, and the shortest wait that any start of
 * this session had beside its own.
 */
export class StartCost {
  readonly #scheduled: Reread;
  #shortestWait = Number.POSITIVE_INFINITY;

  constructor(machine: Machine) {
    this.#scheduled = machine.open('/proc/self/schedstat');
  }

  /** CPU time of the thread that starts processes, ms; where the kernel doesn't tell, that of all threads. */
  cpuMs(): number {
    // Also brings the kernel's own account up to this moment.
    const { user, system } = process.cpuUsage();
    const nanoseconds = /^\d+/.exec(this.#scheduled.text() ?? '')?.[0];
    return nanoseconds === undefined ? (user + system) / 1000 : Number(nanoseconds) / 1e6;
  }

  /** Of a start from which Node came back `tookMs` later, having used `cpuMs` for it. */
  of(tookMs: number, cpuMs: number): number {
    const own = Math.min(cpuMs, tookMs);
    this.#shortestWait = Math.min(this.#shortestWait, tookMs - own);
    return own + this.#shortestWait;
  }

  close(): void {
    this.#scheduled.close();
  }
}

import { spawn } from 'node:child_process';

export interface Launch {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Open files; the process gets them as its stdout and stderr. Its stdin is empty. */
  stdout: number;
  stderr: number;
}

/** How a process ended. */
export interface Ended {
  status: number | null;
  signal: string | null;
  /** From just before it was started until its end was noticed, ms. */
  outerMs: number;
  /** The same without its start: from when it was the program itself. */
  wallMs: number;
  /** Its CPU time and that of descendants it waited for, µs; absent where the runtime doesn't account for it (Node). */
  cpuUsec?: number;
  /** Peak resident memory, bytes; absent where the runtime doesn't account for it, or where it can't be told from the harness's. */
  peakRssBytes?: number;
}

export interface Running {
  pid: number;
  ended: Promise<Ended>;
  /** Lets the harness end although this process doesn't. */
  forget(): void;
}

/** What is used of Bun, when this runs on it: its spawn is cheaper than Node's and accounts for each process. */
const bun = (globalThis as { Bun?: typeof Bun }).Bun;

/**
 * A process starts its life as a copy of the harness, and the kernel keeps that copy's size as its peak: a smaller value of
 * its own can't be seen.
 */
const peakOf = (bytes: number): { peakRssBytes?: number } =>
  bytes > process.resourceUsage().maxRSS * 1024 ? { peakRssBytes: bytes } : {};

/**
 * What a start takes before the program is there, ms. It is the runtime's work and not the program's: Node copies all of its
 * own memory map and throws the copy away again, which takes a millisecond.
 *
 * A runtime comes back from a start when the program has taken the copy's place, or, on a busy machine, some time later: then
 * part of the wait was the program's time already. So of each start only the runtime's CPU time counts, and the shortest
 * wait that any start of this session had beside its own.
 */
export class StartCost {
  #shortestWait = Number.POSITIVE_INFINITY;

  /** Of a start after which the runtime came back `tookMs` later, having used `cpuMs` itself (on all its threads). */
  of(tookMs: number, cpuMs: number): number {
    const own = Math.min(cpuMs, tookMs);
    this.#shortestWait = Math.min(this.#shortestWait, tookMs - own);
    return own + this.#shortestWait;
  }
}

/** CPU time of this process, ms. */
const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** A start under way: call it when the runtime came back from it, then {@link times} when the process has ended. */
class Clock {
  readonly #from = performance.now();
  readonly #cpu = ownCpuMs();
  #startMs = 0;

  started(cost: StartCost): void {
    this.#startMs = cost.of(performance.now() - this.#from, ownCpuMs() - this.#cpu);
  }

  times(): Pick<Ended, 'outerMs' | 'wallMs'> {
    const outerMs = performance.now() - this.#from;
    return { outerMs, wallMs: outerMs - this.#startMs };
  }
}

const launchOnBun = (
  { argv, cwd, env, stdout, stderr }: Launch,
  cost: StartCost,
  runtime: typeof Bun,
): Running => {
  let settle!: (ended: Ended) => void;
  const ended = new Promise<Ended>((resolve) => (settle = resolve));
  const clock = new Clock();
  const child = runtime.spawn([...argv], {
    cwd,
    env: { ...env },
    stdin: 'ignore',
    stdout,
    stderr,
    // setsid(2): a session and process group of its own.
    detached: true,
    onExit(subprocess, status, signal) {
      const times = clock.times();
      const usage = subprocess.resourceUsage();
      settle({
        status,
        signal: signal === null ? null : String(signal),
        ...times,
        ...(usage ? { cpuUsec: Number(usage.cpuTime.total), ...peakOf(usage.maxRSS) } : {}),
      });
    },
  });
  clock.started(cost);
  return { pid: child.pid, ended, forget: () => child.unref() };
};

const launchOnNode = async (
  { argv, cwd, env, stdout, stderr }: Launch,
  cost: StartCost,
): Promise<Running> => {
  const clock = new Clock();
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env,
    stdio: ['ignore', stdout, stderr],
    detached: true,
  });
  clock.started(cost);
  const ended = new Promise<Ended>((resolve) =>
    child.once('exit', (status, signal) => resolve({ status, signal, ...clock.times() })),
  );
  if (child.pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
  return { pid: child.pid, ended, forget: () => child.unref() };
};

/**
 * Starts a process in a session and process group of its own. Rejects when the program can't be started. `cost` is one for all
 * starts of a session.
 */
export const launch = async (what: Launch, cost: StartCost): Promise<Running> =>
  bun ? launchOnBun(what, cost, bun) : launchOnNode(what, cost);

/** The runtime this runs on, for the facts. */
export const RUNTIME = bun ? `bun ${bun.version}` : `node ${process.version}`;

/** Whether the runtime tells each process's CPU time. */
export const ACCOUNTS_PROCESSES = bun !== undefined;

import { spawn } from 'node:child_process';
import type { StartCost } from './start-cost.ts';

/** A process that is to be started. */
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
  /** The same without what its start cost on Node. */
  wallMs: number;
  /** Its CPU time and that of descendants it waited for, µs; absent where the runtime doesn't account for it (Node). */
  cpuUsec?: number;
  /** Peak resident memory, bytes; absent where the runtime doesn't account for it, or where it can't be told from the harness's. */
  peakRssBytes?: number;
}

/** A process that was started. */
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

const launchOnBun = ({ argv, cwd, env, stdout, stderr }: Launch, runtime: typeof Bun): Running => {
  let settle!: (ended: Ended) => void;
  const ended = new Promise<Ended>((resolve) => (settle = resolve));
  const from = performance.now();
  const child = runtime.spawn([...argv], {
    cwd,
    env: { ...env },
    stdin: 'ignore',
    stdout,
    stderr,
    // setsid(2): a session and process group of its own.
    detached: true,
    onExit(subprocess, status, signal) {
      const wallMs = performance.now() - from;
      const usage = subprocess.resourceUsage();
      settle({
        status,
        signal: signal === null ? null : String(signal),
        outerMs: wallMs,
        wallMs,
        ...(usage ? { cpuUsec: Number(usage.cpuTime.total), ...peakOf(usage.maxRSS) } : {}),
      });
    },
  });
  return { pid: child.pid, ended, forget: () => child.unref() };
};

const launchOnNode = async (
  { argv, cwd, env, stdout, stderr }: Launch,
  cost: StartCost,
): Promise<Running> => {
  const cpu = cost.cpuMs();
  const from = performance.now();
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env,
    stdio: ['ignore', stdout, stderr],
    detached: true,
  });
  const startMs = cost.of(performance.now() - from, cost.cpuMs() - cpu);
  const ended = new Promise<Ended>((resolve) =>
    child.once('exit', (status, signal) => {
      const outerMs = performance.now() - from;
      resolve({ status, signal, outerMs, wallMs: outerMs - startMs });
    }),
  );
  if (child.pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
  return { pid: child.pid, ended, forget: () => child.unref() };
};

/**
 * Starts a process in a session and process group of its own. Rejects when the program can't be started. `cost` is one for all
 * starts of a session.
 */
export const launch = async (what: Launch, cost: StartCost): Promise<Running> =>
  bun ? launchOnBun(what, bun) : launchOnNode(what, cost);

/** The runtime this runs on, for the facts. */
export const RUNTIME = bun ? `bun ${bun.version}` : `node ${process.version}`;

/** Whether the runtime tells each process's CPU time. */
export const ACCOUNTS_PROCESSES = bun !== undefined;

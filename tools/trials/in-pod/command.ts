/** Starts a program in the trial's container and follows it to its end, a time limit, or too many processes. */
import { spawn } from 'node:child_process';
import { countOthers, endOthers } from './processes.ts';

export interface Ending {
  /** Exit status, or 128 and the signal's number; null: ended here. */
  exit: number | null;
  why: 'itself' | 'time' | 'processes' | 'told' | 'not started';
  wallMs: number;
  /** The end of its stderr; why it could not be started. */
  said: string;
}

export interface Running {
  command: readonly string[];
  env: Record<string, string>;
  cwd: string;
  stdin?: string;
  limit_s: number;
  /** More processes than this in the container end it. */
  processes: number;
  out(part: Buffer): void;
  /** Looked at all the time: a reason to end it at once. */
  stop?: () => boolean;
}

/** The end of what it said, bytes. */
const KEPT = 8 << 10;
const LOOK_MS = 250;

const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** The end of a stream. */
class Tail {
  #text = Buffer.alloc(0);
  readonly take = (part: Buffer): void => {
    this.#text = Buffer.concat([this.#text, part.subarray(-KEPT)]).subarray(-KEPT);
  };
  get text(): string {
    return this.#text.toString('utf8').trim();
  }
}

/**
 * Runs a program. Its end is that of the process itself: pipes that its children keep open are not waited for. Everything
 * that it started is ended by whoever calls next.
 */
export const runCommand = (running: Running): Promise<Ending> =>
  new Promise((resolve) => {
    const [program, ...args] = running.command as [string, ...string[]];
    const since = performance.now();
    const said = new Tail();
    let why: Ending['why'] = 'itself';
    const child = spawn(program, args, {
      cwd: running.cwd,
      env: running.env,
      detached: true,
      stdio: [running.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const look = setInterval(() => {
      if (performance.now() - since > running.limit_s * 1000) end('time');
      else if (countOthers() > running.processes) end('processes');
      else if (running.stop?.()) end('told');
    }, LOOK_MS);
    const end = (reason: Ending['why']): void => {
      if (why !== 'itself') return;
      why = reason;
      void endOthers();
    };
    const done = (exit: number | null): void => {
      clearInterval(look);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
      resolve({
        exit: why === 'itself' ? exit : null,
        why,
        wallMs: Math.round(performance.now() - since),
        said: said.text,
      });
    };
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      why = 'not started';
      said.take(Buffer.from(error.message));
      done(null);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(running.stdin);
    child.stdout?.on('data', (part: Buffer) => running.out(part));
    child.stderr?.on('data', said.take);
    // What it wrote just before its end is still in the pipes; a child that keeps them open is not waited for.
    child.on('exit', (status, signal) => {
      const exit = status ?? 128 + (SIGNALS[signal ?? ''] ?? 9);
      const patience = setTimeout(() => done(exit), 200);
      child.on('close', () => {
        clearTimeout(patience);
        done(exit);
      });
    });
  });

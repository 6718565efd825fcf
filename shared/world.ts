import { write } from 'node:fs';
import { hostname } from 'node:os';
import { EXIT } from './exit.ts';
import { Failure, failed, usage } from './failure.ts';
import { programOf } from './own-files.ts';

/** Somewhere text goes. `write` resolves once it is handed on; a closed pipe is not an error, but `closed` says so. */
export interface Sink {
  write(text: string | Uint8Array): Promise<void>;
  readonly closed: boolean;
  readonly isTerminal: boolean;
  /** Width of the terminal in cells; 80 elsewhere. */
  readonly columns: number;
}

/** Everything a tool takes from outside, handed in, so that a test can be the outside. */
export interface World {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly host: string;
  /** ms since the epoch. */
  now(): number;
  random(bytes: number): Uint8Array;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by the first ^C or SIGTERM; its reason is the signal's name. */
  readonly interrupted: AbortSignal;
  /** The command line that starts one of our programs as a process of its own. */
  program(tool: string): string[];
}

/** How long to wait for a pipe that takes nothing now, because somebody made it so that writing does not wait, ms. */
const FULL_PIPE_MS = 5;

/** Writes what a file descriptor takes at once of `bytes` from `at` on; gives how much that was. */
const written = (fd: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) =>
    write(fd, bytes, at, bytes.length - at, null, (error, count) => (error ? reject(error) : resolve(count))),
  );

/**
 * Standard output or standard error, written in order. Not through `process.stdout`: that loads Node's streams, half of the
 * time that a small tool takes, and a full disk is an event there that nobody can answer.
 */
const sink = (fd: 1 | 2, stream: () => NodeJS.WriteStream): Sink => {
  const encoder = new TextEncoder();
  let closed = false;
  let terminal: boolean | undefined;
  let last: Promise<void> = Promise.resolve();
  const isTerminal = (): boolean => (terminal ??= process.getBuiltinModule('node:tty').isatty(fd));
  /** A closed pipe, a terminal that hung up; and when words for people reach nobody, the work still does. */
  const isGone = (code: unknown): boolean =>
    code === 'EPIPE' || (code === 'EIO' && isTerminal()) || (fd === 2 && code !== 'EAGAIN');
  const put = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length && !closed;)
      try {
        at += await written(fd, bytes, at);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (isGone(code)) closed = true;
        else if (code === 'EAGAIN') await new Promise((resolve) => setTimeout(resolve, FULL_PIPE_MS));
        else throw error;
      }
  };
  return {
    write(text) {
      const bytes = typeof text === 'string' ? encoder.encode(text) : text;
      const done = last.then(() => put(bytes));
      last = done.catch(() => undefined);
      return done;
    },
    get closed() {
      return closed;
    },
    get isTerminal() {
      return isTerminal();
    },
    get columns() {
      return (isTerminal() && stream().columns) || 80;
    },
  };
};

/** Aborts on the first SIGINT or SIGTERM and leaves at once on the second. */
const onSignals = (): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(signal);
    });
  return controller.signal;
};

/** Standard input, until a signal comes: whoever waits for it hears the first one. */
async function* stdinUntil(interrupted: AbortSignal): AsyncGenerator<Uint8Array> {
  const stop = (): void => void process.stdin.destroy();
  if (interrupted.aborted) stop();
  interrupted.addEventListener('abort', stop, { once: true });
  try {
    yield* process.stdin as AsyncIterable<Uint8Array>;
  } catch (error) {
    // A stream that was destroyed ends with an error of its own.
    if (!interrupted.aborted) throw error;
  } finally {
    interrupted.removeEventListener('abort', stop);
  }
  if (interrupted.aborted)
    throw new Failure(EXIT.interrupted, [`interrupted by ${String(interrupted.reason)} while reading stdin`]);
}

/** The last moment of the year 9999: a later one has no time as our files write it. */
const LAST_MS = 253_402_300_799_999;

/** A clock that stands still where it was told to; one that was told nonsense refuses to tell the time. */
const clockOf = (told: string | undefined): (() => number) => {
  if (told === undefined || told === '') return () => Date.now();
  const fixed = /^(0|[1-9]\d{0,14})$/.test(told) ? Number(told) : Number.NaN;
  return () => {
    if (fixed <= LAST_MS) return fixed;
    throw usage(`$K8SBENCH_NOW: expected a time in ms since 1970, found '${told}'`);
  };
};

/** The real outside. `now` follows K8SBENCH_NOW (ms since the epoch) when set, for reproducible runs of examples and tests. */
export const realWorld = (): World => {
  const interrupted = onSignals();
  return {
    cwd: process.cwd(),
    env: process.env,
    host: hostname(),
    now: clockOf(process.env['K8SBENCH_NOW']),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    get stdin() {
      return stdinUntil(interrupted);
    },
    stdout: sink(1, () => process.stdout),
    stderr: sink(2, () => process.stderr),
    interrupted,
    program: programOf,
  };
};

/** All of standard input as text; `limit` bytes at most, so that a wrong pipe can't fill the memory. */
export const readStdin = async (world: World, limit = 1 << 30): Promise<string> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of world.stdin) {
    size += part.length;
    if (size > limit) throw failed(`more than ${limit} bytes on stdin`);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
};

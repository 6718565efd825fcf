import { hostname } from 'node:os';
import { EXIT } from './exit.ts';
import { failed } from './failure.ts';
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

/** The reader is gone: a closed pipe, or a terminal that hung up (EIO). */
const READER_GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'EIO']);

const sink = (stream: NodeJS.WriteStream): Sink => {
  let closed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (READER_GONE.has(String(error.code))) closed = true;
    else throw error;
  });
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        if (closed || text.length === 0) return resolve();
        stream.write(text, (error) => {
          if (!error) return resolve();
          if (READER_GONE.has(String((error as NodeJS.ErrnoException).code))) {
            closed = true;
            return resolve();
          }
          reject(error);
        });
      }),
    get closed() {
      return closed;
    },
    get isTerminal() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns || 80;
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

/** The real outside. `now` follows K8SBENCH_NOW (ms since the epoch) when set, for reproducible runs of examples and tests. */
export const realWorld = (): World => {
  const fixed = process.env['K8SBENCH_NOW'];
  const clock = fixed !== undefined && /^\d{1,15}$/.test(fixed) ? Number(fixed) : undefined;
  return {
    cwd: process.cwd(),
    env: process.env,
    host: hostname(),
    now: () => clock ?? Date.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    get stdin() {
      return process.stdin;
    },
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    interrupted: onSignals(),
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

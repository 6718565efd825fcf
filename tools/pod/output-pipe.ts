import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, read, writeSync } from 'node:fs';
import { cause } from '../../shared/failure.ts';
import { SessionError } from './session-error.ts';

/** Not every file system has pipes. */
const makePipe = (path: string): void => {
  const { error, status, stderr } = spawnSync('mkfifo', ['-m', '600', path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status === 0) return;
  const said = error ? cause(error) : stderr.toString('utf8').trim();
  throw new SessionError(
    'system',
    `can't make a pipe at '${path}': ${said}; let TMPDIR be another directory`,
  );
};

/**
 * The pipe that measured processes write their stdout to. A named one, because both runtimes give a socket to a child whose
 * output they pipe, and a program can't open that as `/dev/stdout`; and because one for the whole session is cheaper than
 * one per process. Reads block in the runtime's thread pool, so the session's own loop stays free.
 */
export class OutputPipe {
  #path: string;
  #fd: number;
  #buffer = Buffer.allocUnsafe(64 << 10);
  #reading = false;
  #closed = false;

  /** `path` must not exist; it is removed with the directory it is in. */
  constructor(path: string) {
    makePipe(path);
    this.#path = path;
    // Opening either end waits for the other; a non-blocking reader doesn't, and lets the writer in, and so the blocking reader.
    const first = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    this.#fd = openSync(path, constants.O_RDONLY);
    closeSync(writer);
    closeSync(first);
  }

  /** The writing end for one process; close it once the process has it. */
  writer(): number {
    return openSync(this.#path, constants.O_WRONLY);
  }

  /**
   * Hands on what is written until the last writer is gone. Call it after {@link writer}, else there is nothing to wait for.
   * The part is valid only during the call.
   */
  drain(take: (part: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#reading = false;
        if (this.#closed) closeSync(this.#fd);
        settle();
      };
      const next = (): void =>
        read(this.#fd, this.#buffer, 0, this.#buffer.length, null, (error, length) => {
          if (error) return end(() => reject(error));
          if (length === 0 || this.#closed) return end(resolve);
          take(this.#buffer.subarray(0, length));
          next();
        });
      this.#reading = true;
      next();
    });
  }

  /** Also ends a {@link drain} whose writer never goes away: a thread that waits for it would keep the process alive. */
  close(): void {
    this.#closed = true;
    if (!this.#reading) return closeSync(this.#fd);
    const writer = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(writer, '\n');
    closeSync(writer);
  }
}

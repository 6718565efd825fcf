import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Output } from './lines.ts';

const code = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * The standard output of pod.mjs, without the runtime's stream, which buffers and differs between runtimes. A pipe is opened
 * again without blocking (its other holders keep theirs), so that a reader that stands still can't make the session deaf to signals.
 */
export class StandardOutput implements Output {
  #fd = 1;
  #closed = false;

  constructor() {
    if (!fstatSync(1).isFIFO()) return;
    try {
      this.#fd = openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // Some sandboxes forbid it; then writes may block.
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length && !this.#closed;) {
      try {
        at += writeSync(this.#fd, bytes, at);
      } catch (error) {
        if (code(error) === 'EAGAIN') await sleep(5);
        else if (code(error) === 'EPIPE' || code(error) === 'ECONNRESET') this.#closed = true;
        else throw error;
      }
    }
  }

  /** After it nothing more is written: a write that waits for its reader ends. */
  close(): void {
    this.#closed = true;
    if (this.#fd !== 1) closeSync(this.#fd);
    this.#fd = 1;
  }
}

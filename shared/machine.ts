import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Everything read of the machine (`/proc`, `/sys`, cgroups) goes through one root directory, so that a described machine
 * (fixtures/machines) can stand in for the real one.
 */
export interface Machine {
  /** `/`, or the directory that holds a described machine. */
  readonly root: string;
  /** A file's text; `undefined` when it isn't there, `null` when it is there and can't be read. */
  read(path: string): string | null | undefined;
  /** A file's text without white space around it; `undefined` when it can't be had. */
  word(path: string): string | undefined;
  /** Names in a directory, sorted; empty when it can't be read. */
  list(path: string): string[];
  /** A file that is read again and again. */
  open(path: string): Reread;
}

/**
 * The kernel makes such texts a page at a time and stops before a line that doesn't fit any more. No line is half a page long, so
 * less than half a page is all there is, and needn't be asked for again.
 */
const HALF_A_PAGE = 2048;

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO']);

/**
 * A file kept open and read from its start each time: the kernel makes the text anew, and opening is most of the cost of
 * such a read. `undefined` when it isn't there or stops being readable.
 */
export class Reread {
  // One buffer for all: reads are synchronous, and the text is copied out of it.
  static #buffer = Buffer.allocUnsafe(64 << 10);
  #fd: number | undefined;

  constructor(path: string) {
    try {
      this.#fd = openSync(path, 'r');
    } catch {
      this.#fd = undefined;
    }
  }

  text(): string | undefined {
    if (this.#fd === undefined) return undefined;
    let length = 0;
    try {
      // The kernel may give less than there is.
      for (;;) {
        if (length === Reread.#buffer.length)
          Reread.#buffer = Buffer.concat([Reread.#buffer], Reread.#buffer.length * 2);
        const read = readSync(this.#fd, Reread.#buffer, length, Reread.#buffer.length - length, length);
        length += read;
        if (read === 0 || length < HALF_A_PAGE) return Reread.#buffer.toString('latin1', 0, length);
      }
    } catch {
      return undefined;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** The machine whose files stand below `root`: `/`, or a directory that describes another one. */
export const machineAt = (root: string): Machine => {
  const machine: Machine = {
    root,
    read(path) {
      try {
        return readFileSync(join(root, path), 'latin1');
      } catch (error) {
        return ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? undefined : null;
      }
    },
    word: (path) => machine.read(path)?.trim(),
    list(path) {
      try {
        return readdirSync(join(root, path)).toSorted();
      } catch {
        return [];
      }
    },
    open: (path) => new Reread(join(root, path)),
  };
  return machine;
};

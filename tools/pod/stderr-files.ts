import { closeSync, fstatSync, openSync, renameSync, statfsSync } from 'node:fs';

/** Less than this holds no step's words, bytes. */
const ROOM = 16 << 10;

/**
 * A file of its own for each step's stderr. Most steps write nothing there, and making a file costs a fifth of a millisecond:
 * an empty one serves the next step too.
 */
export class StderrFiles {
  readonly #directory: string;
  readonly #path: string;
  #fd: number;

  /** `directory` is there, and is removed by whoever made it. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#path = `${directory}/stderr`;
    this.#fd = this.#open();
  }

  #open(): number {
    return openSync(this.#path, 'w+', 0o600);
  }

  /** The open file of the step that runs, empty when it began. */
  get fd(): number {
    return this.#fd;
  }

  /** Whether there is no room left here: then nothing that a step says can be kept, and it is likely why it failed. */
  get full(): boolean {
    try {
      const { bavail, bsize } = statfsSync(this.#directory);
      return bavail * bsize < ROOM;
    } catch {
      return false;
    }
  }

  /** After a step: what it wrote is kept under this name. */
  keep(name: string): void {
    if (fstatSync(this.#fd).size === 0) return;
    closeSync(this.#fd);
    renameSync(this.#path, `${this.#directory}/${name}`);
    this.#fd = this.#open();
  }

  close(): void {
    closeSync(this.#fd);
  }
}

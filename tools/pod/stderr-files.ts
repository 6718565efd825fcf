import { closeSync, fstatSync, openSync, renameSync } from 'node:fs';

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

import { AgentFailure } from './failure.ts';
import { writesOutside } from './outside-writes.ts';
import { type Connection, connectionsIn, isLoopback, openFiles, strangers } from './sockets.ts';
import { type Proc, PROC, type ProcessTree } from './tree.ts';

/** How often the tree is looked at, ms; more often while it is young, because the shortest runs are over then. */
const EVERY_MS = 25;
const YOUNG_EVERY_MS = 5;
const YOUNG_MS = 100;

export interface Bounds {
  /** Port of the scripted model. */
  port: number;
  /** Directories that the agent may write in. */
  allowed: readonly string[];
  /** Patterns of files beside them. */
  mayWrite: readonly string[];
}

/** Looks at a tree again and again, and remembers the first thing that it must not do. */
export class Watch {
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tree: ProcessTree;
  readonly #bounds: Bounds;
  readonly #proc: Proc;
  readonly #patterns: RegExp[];
  /** Open files that were judged: process, number and what it is. */
  #judged = new Set<string>();
  wrong: AgentFailure | undefined;
  /** Called once, when something is wrong. */
  onWrong: (() => void) | undefined;
  #stopped = false;
  looks = 0;

  constructor(tree: ProcessTree, bounds: Bounds, proc: Proc = PROC) {
    this.#tree = tree;
    this.#bounds = bounds;
    this.#proc = proc;
    this.#patterns = bounds.mayWrite.map((one) => new RegExp(one, 'u'));
  }

  start(): void {
    const from = performance.now();
    const again = (): void => {
      const every = performance.now() - from < YOUNG_MS ? YOUNG_EVERY_MS : EVERY_MS;
      this.#timer = setTimeout(() => {
        // Young ones are looked at in a hurry: a whole look takes as long as the shortest of them live after it.
        if (every === EVERY_MS) this.look();
        else this.#tree.glance();
        if (!this.#stopped) again();
      }, every);
    };
    again();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #refuse(failure: AgentFailure): void {
    if (this.wrong) return;
    this.wrong = failure;
    this.onWrong?.();
  }

  look(): void {
    this.looks++;
    this.#tree.look();
    const found = this.#strangers(true);
    if (found.length === 0) return;
    // Tables and open files are not read in one moment: what is strange on this machine alone must be so again.
    const again = found.every((one) => isLoopback(one.remote)) ? this.#strangers(false) : found;
    const same = again.find((one) =>
      found.some(({ local, remote }) => local === one.local && remote === one.remote),
    );
    if (same)
      this.#refuse(
        new AgentFailure(
          'network',
          `connected to ${same.remote} (${same.protocol}), which is not the scripted model; nothing else may be reached`,
        ),
      );
  }

  #strangers(files: boolean): Connection[] {
    const inodes = new Set<string>();
    for (const pid of this.#tree.live) {
      const open = openFiles(this.#proc, pid);
      for (const link of open.values()) {
        const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
        if (inode !== undefined) inodes.add(inode);
      }
      if (files) this.#lookAtFiles(pid, open);
    }
    const [pid] = this.#tree.live;
    return inodes.size === 0 ? [] : strangers(connectionsIn(this.#proc, pid!), inodes, this.#bounds.port);
  }

  #lookAtFiles(pid: number, files: ReadonlyMap<string, string>): void {
    const fresh = new Map([...files].filter(([fd, link]) => !this.#judged.has(`${pid} ${fd} ${link}`)));
    if (fresh.size === 0) return;
    for (const [fd, link] of fresh) this.#judged.add(`${pid} ${fd} ${link}`);
    for (const path of writesOutside(this.#proc, pid, fresh, this.#bounds.allowed))
      if (!this.#patterns.some((one) => one.test(path)))
        this.#refuse(new AgentFailure('writes', `writes to '${path}', outside of its home`));
  }
}

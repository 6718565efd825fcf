import { AgentFailure } from './failure.ts';
import { writesOutside } from './outside-writes.ts';
import { type Connection, isLoopback, openFiles, TreeSockets } from './sockets.ts';
import { type Proc, PROC, type ProcessTree } from './tree.ts';

/** How often the tree is looked at, ms, from the beginning of one look to that of the next. */
const EVERY_MS = 25;
/** At least so long nobody looks, ms: on a machine where looks take long, the agent shall run too. */
const REST_MS = 5;
/** Young ones, which the shortest runs are all along, are glanced at in between: clocks and memory alone. */
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

/** What a connection is, in a sentence's beginning. */
const reaching = ({ protocol, local, remote }: Connection): string =>
  remote === ''
    ? `opened a socket that may send to anyone (${protocol}, ${local})`
    : `connected to ${remote} (${protocol}), which is not the scripted model`;

/** Looks at a tree again and again, and remembers the first thing that it must not do. */
export class Watch {
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tree: ProcessTree;
  readonly #bounds: Bounds;
  readonly #proc: Proc;
  readonly #patterns: RegExp[];
  readonly #sockets: TreeSockets;
  /** Open files that were judged: process, number and what it is. */
  #judged = new Set<string>();
  wrong: AgentFailure | undefined;
  /** Called once, when something is wrong. */
  onWrong: (() => void) | undefined;
  #stopped = false;
  /** Longest time between the beginnings of two looks, ms. */
  longestGap = 0;
  #looked = performance.now();

  constructor(tree: ProcessTree, bounds: Bounds, proc: Proc = PROC) {
    this.#tree = tree;
    this.#bounds = bounds;
    this.#proc = proc;
    this.#sockets = new TreeSockets(bounds.port, proc);
    this.#patterns = bounds.mayWrite.map((one) => new RegExp(one, 'u'));
  }

  start(): void {
    const from = performance.now();
    const again = (): void => {
      const now = performance.now();
      const left = Math.max(REST_MS, this.#looked + EVERY_MS - now);
      this.#timer = setTimeout(
        () => {
          if (performance.now() >= this.#looked + EVERY_MS) this.look();
          else this.#tree.glance();
          if (!this.#stopped) again();
        },
        now - from < YOUNG_MS ? Math.min(YOUNG_EVERY_MS, left) : left,
      );
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
    const now = performance.now();
    this.longestGap = Math.max(this.longestGap, now - this.#looked);
    this.#looked = now;
    this.#tree.look();
    const found = this.#strangers(true);
    if (found.length === 0) return;
    // Tables and open files are not read in one moment: what is strange on this machine alone must be so again, and a socket
    // without another end may be about to get one.
    const sure = found.filter((one) => one.remote !== '' && !isLoopback(one.remote));
    const again = sure.length > 0 ? sure : this.#strangers(false);
    const same = again.find((one) =>
      found.some(({ local, remote }) => local === one.local && remote === one.remote),
    );
    if (same) this.#refuse(new AgentFailure('network', `${reaching(same)}; nothing else may be reached`));
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
    return this.#sockets.strangers(this.#tree.live, inodes);
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

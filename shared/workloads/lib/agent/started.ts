/** One process of the agent with its tree, watched from its start to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentFailure, quoted } from './failure.ts';
import { ExactCpu } from './exact-cpu.ts';
import { PROC, ProcessTree } from './tree.ts';
import { type Bounds, Watch } from './watch.ts';

/** Most that is kept of what an agent prints, bytes; more than that is refused. */
const OUTPUT_BYTES = 32 << 20;
/** How long what it started may outlive it before it is ended, ms. */
const GRACE_MS = 300;

export interface Start {
  name: string;
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  marker: string;
  bounds: Bounds;
  /** Its standard input stays open for {@link Started.write}. */
  stdin?: boolean;
  /** The first process is a helper of ours, not the agent's. */
  helper?: boolean;
  /** What it shows, where it has a screen. */
  screen?(): string;
  /** Whether what it says asks for a login. */
  asksForLogin?(said: string): boolean;
  /** Takes what it prints, part by part. */
  onOutput?(part: Buffer): void;
  /** Longest that it may take, ms. */
  limit: number;
}

export interface Ended {
  status: number | null;
  signal: string | null;
  /** From just before its start to its end, ms. */
  wall: number;
  /** CPU time that polling saw, ms. */
  cpu: number;
  /** CPU time by the cgroup's count, ms; null where none counts the agent alone. */
  exactCpu: number | null;
  /** Largest sum of resident memory, MiB. */
  peak: number;
  stdout: string;
  stderr: string;
}

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
};

/** Describes an end that should not be. */
const endOf = ({ status, signal }: Pick<Ended, 'status' | 'signal'>): string =>
  signal === null ? `ended with status ${status}` : `was ended by ${signal}`;

export class Started {
  readonly tree: ProcessTree;
  readonly watch: Watch;
  /** Just before its start, ms. */
  readonly from: number;
  readonly #start: Start;
  readonly #child: ChildProcess;
  readonly #exact = new ExactCpu();
  readonly #exactBefore: number | null;
  readonly #closed: Promise<{ status: number | null; signal: string | null; at: number }>;
  readonly #limit: ReturnType<typeof setTimeout>;
  #stdout: Buffer[] = [];
  #stderr: Buffer[] = [];
  #size = 0;
  #failure: AgentFailure | undefined;
  #fail!: (failure: AgentFailure) => void;
  /** Rejects as soon as something is wrong. */
  readonly failed: Promise<never>;

  constructor(start: Start) {
    this.#start = start;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
    this.#exactBefore = this.#exact.read(new Set());
    const before = PROC.list('/proc');
    this.from = performance.now();
    this.#child = spawn(start.argv[0]!, start.argv.slice(1), {
      cwd: start.cwd,
      env: start.env,
      stdio: [start.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const child = this.#child;
    this.#closed = new Promise((resolve) => {
      let ended: { status: number | null; signal: string | null; at: number } | undefined;
      child.once('exit', (status, signal) => (ended = { status, signal, at: performance.now() }));
      child.once('close', () => resolve(ended ?? { status: null, signal: null, at: performance.now() }));
      child.once('error', (error) => {
        this.refuse(new AgentFailure('crash', `can't be started: ${error.message}`));
        resolve({ status: null, signal: null, at: performance.now() });
      });
    });
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (part: Buffer) => this.#take(part, this.#stdout));
    child.stderr?.on('data', (part: Buffer) => this.#take(part, this.#stderr));
    const pid = child.pid ?? -1;
    this.tree = new ProcessTree(pid, start.marker, start.helper ? [pid] : [], PROC, before);
    this.watch = new Watch(this.tree, start.bounds);
    this.watch.onWrong = () => this.refuse(this.watch.wrong!);
    this.watch.start();
    this.#limit = setTimeout(
      () => this.refuse(this.#told('hang', `hangs: it took longer than ${start.limit / 1000} s`)),
      start.limit,
    );
  }

  #take(part: Buffer, kept: Buffer[]): void {
    if (kept === this.#stdout && this.#start.onOutput) return this.#hand(part);
    this.#size += part.length;
    if (this.#size > OUTPUT_BYTES)
      return this.refuse(new AgentFailure('answer', `printed more than ${OUTPUT_BYTES} bytes`));
    kept.push(part);
  }

  /** To whoever takes what it prints, who may find something wrong with it. */
  #hand(part: Buffer): void {
    try {
      this.#start.onOutput!(part);
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      this.refuse(error);
    }
  }

  /** Something is wrong: the agent is ended, whoever waits is told. The first reason counts. */
  refuse(failure: AgentFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    this.killAll();
    this.#fail(failure);
  }

  get stderr(): string {
    return Buffer.concat(this.#stderr).toString('utf8');
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) kill(this.#child.pid, signal);
  }

  /** Ends everything that was ever seen of it. */
  killAll(): void {
    if (this.#child.pid !== undefined) kill(-this.#child.pid, 'SIGKILL');
    for (const pid of this.tree.alive()) kill(pid, 'SIGKILL');
  }

  /** A promise, or the failure that comes before it. An end of the process before it is a crash. */
  async until<T>(wanted: Promise<T>, what: string): Promise<T> {
    const ended = this.#closed.then(({ status, signal }): never => {
      throw this.#failure ?? this.#told('crash', `${endOf({ status, signal })} before ${what}`);
    });
    ended.catch(() => undefined);
    return Promise.race([wanted, this.failed, ended]);
  }

  /** A failure with the end of what it wrote; when that asks for a login, it is told as one. */
  #told(wrong: 'crash' | 'hang', what: string): AgentFailure {
    const output = Buffer.concat(this.#stdout).toString('utf8');
    const text = quoted(this.#start.screen?.() ?? (this.stderr || output));
    const said = text === '' ? '' : `; it says: ${text}`;
    return this.#start.asksForLogin?.(`${text}\n${quoted(output)}`)
      ? new AgentFailure('login', `asks for a login, and ${what}${said}`)
      : new AgentFailure(wrong, `${what}${said}`);
  }

  /** Waits for its end. Fails when something was wrong on the way. */
  async end(): Promise<Ended> {
    const { status, signal, at } = await this.#closed;
    clearTimeout(this.#limit);
    this.watch.stop();
    if (!this.#failure) this.watch.look();
    const left = await this.#clear();
    const exactAfter = this.#exact.read(new Set(this.tree.live));
    if (this.#failure) throw this.#failure;
    if (left.length > 0)
      throw new AgentFailure(
        'left-behind',
        `left processes behind: ${left.slice(0, 5).join(', ')}; they were ended`,
      );
    return {
      status,
      signal,
      wall: at - this.from,
      cpu: this.tree.cpu(),
      exactCpu:
        exactAfter === null || this.#exactBefore === null
          ? null
          : Math.max(0, exactAfter - this.#exactBefore),
      peak: this.tree.memory().peak,
      stdout: Buffer.concat(this.#stdout).toString('utf8'),
      stderr: this.stderr,
    };
  }

  /** Waits for its end, which must be a good one. */
  async endWell(): Promise<Ended> {
    const ended = await this.end();
    if (ended.status !== 0) throw this.#told('crash', endOf(ended));
    return ended;
  }

  /** What outlives it gets a moment, then is ended; says what that was. */
  async #clear(): Promise<string[]> {
    for (
      const until = performance.now() + GRACE_MS;
      this.tree.alive().length > 0 && performance.now() < until;
    )
      await sleep(5);
    const left = this.tree.alive().map((pid) => `'${this.tree.nameOf(pid)}' (process ${pid})`);
    for (const until = performance.now() + 2000; this.tree.alive().length > 0 && performance.now() < until;) {
      for (const pid of this.tree.alive()) kill(pid, 'SIGKILL');
      await sleep(5);
    }
    return left;
  }
}

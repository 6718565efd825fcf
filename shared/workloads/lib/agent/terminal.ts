/**
 * An agent in a real pseudo-terminal. It is made by script(1), which every Debian has: neither runtime can make one of its own
 * on both. script is no part of what is measured, and the clock starts when the shell in it is about to become the agent.
 */
import { execFile } from 'node:child_process';
import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Bench, filled } from './bench.ts';
import { AgentFailure, quoted } from './failure.ts';
import { fillAll } from './placeholders.ts';
import { Screen } from './screen.ts';
import type { Terminal } from './settings.ts';
import type { Started } from './started.ts';

const COLUMNS = 100;
const ROWS = 30;
/** How often an agent is asked to quit. */
const QUIT_TRIES = 6;
/** How long an agent may take before it begins to draw its screen anew, ms. */
const REDRAW_MS = 5000;
/** Printed just before the agent takes over. */
const MARK = 'k8sbench-terminal-is-ready';

const inShell = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
const pattern = (text: string): RegExp => new RegExp(text, 'u');

export class TerminalRun {
  readonly screen: Screen;
  readonly started: Started;
  readonly settings: Terminal;
  /** When the agent took over, ms, and the tree's CPU time then. */
  from = 0;
  cpuFrom = 0;
  readonly #begun: Promise<void>;

  /** `words` are the agent's arguments. */
  constructor(bench: Bench, words: readonly string[]) {
    const settings = bench.settings.terminal!;
    this.settings = settings;
    const { columns = COLUMNS, rows = ROWS } = settings;
    const program = [...filled(bench.settings.program, bench.values), ...words];
    const launcher = join(bench.home.home, 'tmp', 'in-terminal.sh');
    writeFileSync(
      launcher,
      `stty rows ${rows} cols ${columns}\nprintf '${MARK}\\n'\nexec ${program.map(inShell).join(' ')}\n`,
    );
    let begin!: () => void;
    this.#begun = new Promise((resolve) => (begin = resolve));
    let before: Buffer | undefined = Buffer.alloc(0);
    this.screen = new Screen(columns, rows, (text) => this.started.write(text));
    this.started = bench.start([], {
      argv: ['script', '-qefc', `exec sh ${inShell(launcher)}`, '/dev/null'],
      env: { ...bench.env, TERM: 'xterm-256color', COLORTERM: 'truecolor', SHELL: '/bin/sh' },
      stdin: true,
      helper: true,
      screen: () => this.screen.text,
      onOutput: (part) => {
        const at = performance.now();
        if (before === undefined) return this.screen.write(part, at);
        before = Buffer.concat([before, part]);
        const mark = before.indexOf(`${MARK}\r\n`);
        if (mark === -1) return undefined;
        this.from = at;
        this.cpuFrom = this.started.tree.cpu();
        const rest = before.subarray(mark + MARK.length + 2);
        before = undefined;
        begin();
        if (rest.length > 0) this.screen.write(rest, at);
        return undefined;
      },
    });
  }

  /** CPU time since the agent took over, ms. */
  cpu(): number {
    return Math.max(0, this.started.tree.cpu() - this.cpuFrom);
  }

  async #until<T>(wanted: Promise<T>, what: string): Promise<T> {
    return this.started.until(wanted, what);
  }

  /** First text on the screen, ms from its start. */
  async first(): Promise<number> {
    await this.#until(this.#begun, 'it got a terminal');
    const at = await this.#until(
      this.screen.shows((text) => text.trim() !== ''),
      'it showed anything',
    );
    return at - this.from;
  }

  /** Whether the screen takes a prompt and the agent is at rest. */
  idle = (text: string): boolean =>
    pattern(this.settings.ready).test(text) &&
    !(this.settings.busy !== undefined && pattern(this.settings.busy).test(text));

  /** Until the screen takes a prompt and stays as it is; questions on the way are answered. Ms from its start. */
  async ready(quiet?: number): Promise<number> {
    const left = [...(this.settings.dismiss ?? [])];
    for (;;) {
      const asking = (text: string) => left.find((one) => pattern(one.when).test(text));
      const at = await this.#until(
        this.screen.settled((text) => this.idle(text) || asking(text) !== undefined, quiet),
        'its screen was ready',
      );
      const question = asking(this.screen.text);
      if (!question) return at - this.from;
      left.splice(left.indexOf(question), 1);
      this.type(question.keys);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  type(text: string): void {
    this.started.write(text);
  }

  /** Types a text key by key and waits until each is shown. Latencies, ms. */
  async keys(text: string): Promise<number[]> {
    const latencies: number[] = [];
    let typed = '';
    for (const key of text) {
      typed += key;
      const from = performance.now();
      this.type(key);
      const there = (now: string, at: number): boolean => at >= from && now.includes(typed);
      // A space at the end of a line is not seen.
      if (key !== ' ')
        latencies.push((await this.#until(this.screen.shows(there), `it showed the key '${key}'`)) - from);
      // Faster than anybody types would be taken for pasted.
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    return latencies;
  }

  /** Until a text is shown; when its part arrived, ms. */
  shown(text: string, what: string): Promise<number> {
    return this.#until(
      this.screen.shows((now) => now.includes(text)),
      what,
    );
  }

  /** Until it is at rest again; the last change, ms. */
  rest(what: string, quiet?: number): Promise<number> {
    return this.#until(this.screen.settled(this.idle, quiet), what);
  }

  /**
   * Another size; when the screen last changed after it, ms from the change, and the bytes that it took. An agent that draws
   * nothing then did nothing wrong: it has no such time.
   */
  async resize(columns: number, rows: number): Promise<{ redraw?: number; bytes: number }> {
    const [pid] = this.started.tree.live;
    const { bytes, changed } = this.screen;
    const from = performance.now();
    this.screen.changed = undefined;
    this.screen.resize(columns, rows);
    await promisify(execFile)('stty', [
      '-F',
      readlinkSync(`/proc/${pid}/fd/0`),
      'rows',
      String(rows),
      'cols',
      String(columns),
    ]);
    while (this.screen.changed === undefined && performance.now() - from < REDRAW_MS)
      await this.#until(new Promise((resolve) => setTimeout(resolve, 10)), 'it drew its screen anew');
    if (this.screen.changed === undefined) {
      this.screen.changed = changed;
      return { bytes: this.screen.bytes - bytes };
    }
    const at = await this.rest('it drew its screen anew');
    return { redraw: Math.max(0, at - from), bytes: this.screen.bytes - bytes };
  }

  /**
   * Ends the agent by its own keys; ms that took. Keys that mean “twice, quickly” may come too late on a busy machine: they are
   * pressed again, and the time counts from the last time.
   */
  async quit(values: Bench['values']): Promise<number> {
    let from = performance.now();
    const state = { ended: false };
    const end = this.started.end().finally(() => (state.ended = true));
    end.catch(() => undefined);
    const wait = (ms: number) =>
      Promise.race([end.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, ms))]);
    for (let tries = 0; tries < QUIT_TRIES && !state.ended; tries++) {
      from = performance.now();
      for (const keys of this.settings.quit) {
        this.type(fillAll(keys, values));
        await wait(100);
      }
      await wait(2000);
    }
    if (!state.ended)
      this.started.refuse(
        new AgentFailure('hang', `does not quit; its screen shows: ${quoted(this.screen.text)}`),
      );
    try {
      return Math.max(0, (await end).wall - (from - this.started.from));
    } finally {
      this.screen.close();
    }
  }

  /** Ends it whatever it does. */
  async drop(): Promise<void> {
    this.started.killAll();
    await this.started.end().catch(() => undefined);
    this.screen.close();
  }
}

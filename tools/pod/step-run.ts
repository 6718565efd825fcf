import { closeSync, fstatSync, readSync } from 'node:fs';
import { cause } from '../../shared/failure.ts';
import { isOnItsWay, type OtherAffinity, otherAffinity } from './affinity.ts';
import { type Ended, launch } from './launch.ts';
import { groupExists, killGroup, type Left } from './leftovers.ts';
import { type Spent, spent } from './meter.ts';
import type { Rig } from './rig.ts';
import { type Code, SessionError } from './session-error.ts';
import { afterSeconds } from '../../shared/time-limit.ts';

/** How often the clock is read and a running step looked at, ms (spec §5). */
const TICK_MS = 50;
/** Longest time between two looks at a process's affinity, ms. */
const LOOK_MS = 10_000;
/** Most that a step may write to stderr, bytes: it is kept on disk. */
const STDERR_BYTES = 256 << 20;
/** Bytes of stderr that go into an error message. */
const TAIL_BYTES = 2048;
/** A program that floods its stderr says the same in each line. */
const TAIL_LINES = 20;
/** Longest that a killed process may take to end, and a pipe to run dry, ms. */
const LAST_WAIT_MS = 10_000;
/** How long a process's stdout may stay open after its end before what holds it is looked for, ms. */
const OPEN_MS = 100;

/** Whether it comes true in time. */
const within = (wanted: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, false);
    wanted.then(() => resolve(true), reject).finally(() => clearTimeout(timer));
  });

/** One process of a step: how it ended and what passed meanwhile. */
export interface Measured extends Ended {
  spent: Spent;
}

/** The process that runs now. */
interface Watched {
  pid: number;
  from: number;
  /** Age at which its affinity is looked at next, ms. */
  look: number;
}

/** Runs the processes of one step, one after another, and ends them when it must; {@link StepRun.end} must follow. */
export class StepRun {
  /** Affinity that the target gave itself in a session without a pin. */
  ownAffinity: OtherAffinity | undefined;
  readonly #rig: Rig;
  readonly #label: string;
  readonly #target: string;
  readonly #logName: string;
  readonly #onStop = (): void => this.stop(this.#rig.stopping.reason as SessionError);
  readonly #callOffLimit: () => void;
  readonly #ticker: ReturnType<typeof setInterval>;
  readonly #groups: number[] = [];
  #ticks = 0;
  #running: Watched | undefined;
  #reason: SessionError | undefined;
  #overdue: (() => void) | undefined;

  /** `label` names the step in messages: "the sample of 'journal' at size 500, round 3". */
  constructor(rig: Rig, label: string, target: string, logName: string) {
    this.#rig = rig;
    this.#label = label;
    this.#target = target;
    this.#logName = logName;
    const { step_s: limit } = rig.limits;
    this.#callOffLimit = afterSeconds(limit, () =>
      this.stop(this.error('step-limit', `took longer than its limit of ${limit} s and was killed`)),
    );
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    rig.stopping.addEventListener('abort', this.#onStop, { once: true });
    if (rig.stopping.aborted) this.#onStop();
  }

  /** An error of this step; with the end of its stderr when there is any. */
  error(code: Code, what: string): SessionError {
    const tail = this.#stderrTail();
    const said = tail ? `; its stderr ended with: ${tail}` : '';
    const full = !tail && this.#rig.stderr.full;
    return new SessionError(
      code,
      `${this.#label} ${what}${said}${full ? '; no space is left beside its fixtures: give it more (scratchSize)' : ''}`,
    );
  }

  /** Kills what runs; the step fails with this reason. The first reason counts. */
  stop(reason: SessionError): void {
    this.#reason ??= reason;
    if (this.#running === undefined) return;
    killGroup(this.#running.pid);
    setTimeout(() => this.#overdue?.(), LAST_WAIT_MS).unref();
  }

  /** Runs one process to its end, and hands on its stdout part by part. Throws unless it ends with status 0. */
  async process(argv: readonly string[], take: (part: Buffer) => void): Promise<Measured> {
    if (this.#reason) throw this.#reason;
    const { rig, running, drained, before } = await this.#start(argv, take);
    const overdue = new Promise<undefined>((resolve) => (this.#overdue = () => resolve(undefined)));
    const ended = await Promise.race([running.ended, overdue]);
    const after = rig.meter.read();
    this.#running = undefined;
    this.#overdue = undefined;
    if (!ended) {
      running.forget();
      drained.catch(() => undefined);
      throw this.error('left-behind', `can't be killed; process ${running.pid} is still there`);
    }
    if (rig.clock.count === 0) rig.clock.sample();
    const isEmpty = !groupExists(running.pid);
    const left = isEmpty ? [] : await this.#clear();
    left.push(...(await this.#runDry(drained)));
    // An empty group is done with: its number may become somebody else's.
    if (isEmpty || !groupExists(running.pid)) this.#groups.pop();
    if (this.#reason) throw this.#reason;
    if (ended.signal !== null) throw this.error('step', `was ended by ${ended.signal}`);
    if (ended.status !== 0) throw this.error('step', `ended with status ${ended.status}`);
    this.#refuse(left);
    return { ...ended, spent: spent(before, after) };
  }

  async #start(argv: readonly string[], take: (part: Buffer) => void) {
    const rig = this.#rig;
    const { cwd, env } = rig;
    const writer = rig.pipe.writer();
    const before = rig.meter.read();
    try {
      const words = [...rig.prefix, ...argv];
      const running = await launch(
        { argv: words, cwd, env, stdout: writer, stderr: rig.stderr.fd },
        rig.startCost,
      );
      this.#groups.push(running.pid);
      this.#running = { pid: running.pid, from: performance.now(), look: TICK_MS };
      // A reason to stop may have come while it was started.
      if (this.#reason) this.stop(this.#reason);
      return { rig, running, before, drained: rig.pipe.drain(take) };
    } catch (error) {
      throw this.error('step', `can't start '${argv[0]}': ${cause(error)}; check the command`);
    } finally {
      closeSync(writer);
    }
  }

  /** Waits until nobody holds the pipe any more; what a process left behind may hold it. */
  async #runDry(drained: Promise<void>): Promise<Left[]> {
    if (await within(drained, OPEN_MS)) return [];
    const left = await this.#clear();
    if (await within(drained, LAST_WAIT_MS)) return left;
    throw this.error('left-behind', 'ended, and something that is not its own still holds its stdout');
  }

  async #clear(): Promise<Left[]> {
    return this.#rig.leftovers.clear(this.#groups);
  }

  #refuse(left: readonly Left[]): void {
    if (left.length === 0) return;
    const names = left.map(({ pid, name }) => `'${name}' (process ${pid})`);
    const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? `, and ${names.length - 5} more` : '');
    throw this.error(
      'left-behind',
      `left processes behind: ${shown}; they were killed, because the next sample must run alone`,
    );
  }

  #tick(): void {
    this.#ticks++;
    if (this.#running === undefined) return;
    this.#rig.clock.sample();
    if (this.#ticks % 20 === 0 && fstatSync(this.#rig.stderr.fd).size > STDERR_BYTES)
      this.stop(this.error('output', `wrote more than ${STDERR_BYTES} bytes to stderr and was killed`));
    // At the age of 50, 100, 200, 400 ms and so on, then every 10 s.
    const running = this.#running;
    const age = performance.now() - running.from;
    if (age < running.look) return;
    running.look = age + Math.min(age, LOOK_MS);
    this.#lookAtAffinity(running);
  }

  #lookAtAffinity(running: Watched): void {
    const { machine, affinity, conditions } = this.#rig;
    const other = otherAffinity(machine, running.pid, affinity.expected);
    if (!other) return;
    // On a busy machine it may not have come so far as to be pinned and become the target.
    if (affinity.pinned && isOnItsWay(machine, running.pid, other)) {
      running.look = 0;
      return;
    }
    if (!affinity.pinned) this.ownAffinity ??= other;
    else
      this.stop(
        conditions.changed() ??
          this.error(
            'affinity',
            `changed its own affinity: '${other.name}' of target '${this.#target}' may run on '${other.cpus}', and is pinned to '${affinity.expected}'; ` +
              'let the target leave its affinity alone, or plan with --pin none',
          ),
      );
  }

  /** The end of what the step wrote to stderr, whole characters only. */
  #stderrTail(): string {
    try {
      const { size } = fstatSync(this.#rig.stderr.fd);
      const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
      const length = readSync(this.#rig.stderr.fd, buffer, 0, buffer.length, size - buffer.length);
      // The first character may have been cut in two.
      const from = size > TAIL_BYTES ? buffer.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
      const lines = buffer.toString('utf8', Math.max(0, from), length).trim().split('\n');
      return lines.slice(-TAIL_LINES).join('\n');
    } catch {
      return '';
    }
  }

  /** After the last process: nothing may be left behind. Must be called however the step went; throws only with `check`. */
  async end(check: boolean): Promise<void> {
    this.#callOffLimit();
    clearInterval(this.#ticker);
    this.#rig.stopping.removeEventListener('abort', this.#onStop);
    try {
      const left = await this.#clear();
      if (!check) return;
      if (this.#reason) throw this.#reason;
      this.#refuse(left);
    } finally {
      this.#rig.stderr.keep(this.#logName);
    }
  }
}

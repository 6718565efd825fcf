/**
 * The pod's own copy of the log, because a node rotates logs away, and the time it is kept for whoever follows (DESIGN §4.6):
 * K8SBENCH_SPOOL names the file; while K8SBENCH_ACKNOWLEDGED names one that is not there yet, the pod lingers.
 */
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { jobAge } from './job-age.ts';
import type { Output } from './lines.ts';

/** An output whose text goes into a file as well. A full disk ends the copy, never the session. */
export class Spool implements Output {
  readonly #output: Output;
  readonly #path: string;
  #fd: number | undefined;

  constructor(output: Output, path: string) {
    this.#output = output;
    this.#path = path;
    try {
      this.#fd = openSync(path, 'w', 0o644);
    } catch {
      // The log itself goes on.
    }
  }

  get closed(): boolean {
    return this.#output.closed;
  }

  write(text: string): Promise<void> {
    if (this.#fd !== undefined)
      try {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
      } catch {
        // Half a copy is none.
        closeSync(this.#fd);
        this.#fd = undefined;
        rmSync(this.#path, { force: true });
      }
    return this.#output.write(text);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** The longest that a pod lingers, ms. */
const LONGEST_LINGER_MS = 15 * 60_000;
const LOOK_EVERY_MS = 200;

/**
 * How long a pod may linger whose process is `age_ms` old, ms: the Job's deadline would take the log away, and comes after the
 * session's limit. `submittedAt` and `now` are for {@link jobAge}.
 */
export const lingerFor = (
  plan: string | undefined,
  submittedAt: string | undefined,
  age_ms: number,
  now: number,
): number => {
  try {
    const { limits } = JSON.parse(plan ?? '') as { limits: { session_s: number } };
    const age = Math.max(age_ms, jobAge(submittedAt, now, limits.session_s) * 1000);
    return Math.max(0, Math.min(LONGEST_LINGER_MS, limits.session_s * 1000 - age));
  } catch {
    return 0;
  }
};

/** Until the file is there, the signal comes, or it took longer than `longest` ms. */
export const linger = async (acknowledged: string, signal: AbortSignal, longest: number): Promise<void> => {
  const until = performance.now() + longest;
  while (!existsSync(acknowledged) && !signal.aborted && performance.now() < until)
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
};

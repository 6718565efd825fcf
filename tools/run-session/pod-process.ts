/** The pod program as a child process: started, asked to stop, and in the end certainly gone. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ProcessIdentity } from '../../schemas/job.ts';
import { cause, failed } from '../../shared/failure.ts';
import { afterSeconds } from '../../shared/time-limit.ts';
import { linesOf } from '../../shared/line-blocks.ts';
import { identityOf, killTree, signal } from './processes.ts';

/** How long the program may take to end after it was asked to, before it is killed, s. */
const GRACE_S = 20;
/** How long its output may stay open after it ended: something else holds it then. */
const DRAIN_MS = 5000;
const TAIL_BYTES = 4096;

export interface PodEnd {
  status: number | null;
  signal: string | null;
  /** The last of what it said on stderr. */
  stderrTail: string;
  /** It ran past the limit. */
  overran: boolean;
}

export interface PodProcess {
  identity: ProcessIdentity;
  stdout: AsyncIterable<Uint8Array>;
  /** Gives it its plan; until then it waits. */
  begin(compact: string, onStderr: (line: string) => void): void;
  /** Asks it to end, then kills it with everything it started. */
  stop(): void;
  /** Ends it after so many seconds. */
  limit(seconds: number): void;
  /** It has ended; its output may still be open. */
  exited: Promise<unknown>;
  ended: Promise<PodEnd>;
}

export const startPod = async (
  [program, ...args]: readonly string[],
  options: { cwd: string; env: Record<string, string | undefined> },
): Promise<PodProcess> => {
  // A process group of its own: ^C on the terminal reaches the runner alone, which passes it on once.
  const child: ChildProcessWithoutNullStreams = spawn(program!, args, { ...options, detached: true });
  const timers: (() => void)[] = [];
  const later = (seconds: number, act: () => void): void => void timers.push(afterSeconds(seconds, act));
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const spawned = once(child, 'spawn').then(
    () => undefined,
    (error: unknown) => error,
  );
  // The promise of an exit that never comes would otherwise be an error that nobody handles.
  exited.catch(() => undefined);
  const error = await spawned;
  if (error !== undefined) throw failed(`can't start the pod program '${program}': ${cause(error)}`);
  const identity = identityOf(child.pid!) ?? { pid: child.pid!, start_ticks: 0 };

  let stderrTail = '';
  let listening: Promise<unknown> = Promise.resolve();
  let overran = false;
  const stop = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    signal(identity.pid, 'SIGTERM');
    later(GRACE_S, () => killTree(identity));
  };
  const end = async (): Promise<PodEnd> => {
    const [status, signalled] = await exited;
    const drain = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_MS);
    for (const callOff of timers) callOff();
    await listening;
    clearTimeout(drain);
    return { status, signal: signalled, stderrTail, overran };
  };
  return {
    identity,
    stdout: child.stdout as AsyncIterable<Uint8Array>,
    begin(compact, onStderr) {
      const listen = async (): Promise<void> => {
        for await (const raw of linesOf(child.stderr as AsyncIterable<Uint8Array>)) {
          const line = Buffer.from(raw).toString();
          stderrTail = `${stderrTail}${line}\n`.slice(-TAIL_BYTES);
          onStderr(line);
        }
      };
      listening = listen().catch(() => undefined);
      // A program that ended without reading its plan has said why by other means.
      child.stdin.on('error', () => undefined);
      child.stdin.end(compact);
    },
    stop,
    limit: (seconds) => later(seconds, () => ((overran = true), stop())),
    exited,
    ended: end(),
  };
};

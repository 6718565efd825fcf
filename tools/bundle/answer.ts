/** What programs say of themselves. */
import { spawn } from 'node:child_process';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';

/** Programs say their version at once; a slow disk or a network home takes its time, ms. */
const PATIENCE_MS = 120_000;

/** What programs said, by command and place: several artifacts ask the same. */
const answers = new Map<string, Promise<string | undefined>>();

/** Output of a program that says its version; undefined when it is not there or fails. One that does not end in time is an error. */
export const answerOf = (
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  interrupted: AbortSignal,
  patience_ms = PATIENCE_MS,
): Promise<string | undefined> => {
  const key = JSON.stringify([command, cwd, env]);
  const known = answers.get(key) ?? asked(command, { ...env, LC_ALL: 'C' }, cwd, interrupted, patience_ms);
  answers.set(key, known);
  return known;
};

const asked = (
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  interrupted: AbortSignal,
  patience_ms: number,
): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    // In a group of its own, so that what it started ends with it.
    const child = spawn(command[0]!, command.slice(1), {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let said = '';
    const end = (why: Failure): void => {
      settle();
      if (child.pid !== undefined) endGroup(child.pid);
      child.stdout.destroy();
      reject(why);
    };
    const stop = (): void => end(new Failure(EXIT.interrupted, 'interrupted'));
    const timer = setTimeout(() => {
      end(
        failed(
          `'${command.join(' ')}' did not end within ${patience_ms / 1000} s; run it in '${cwd}' to see why`,
        ),
      );
    }, patience_ms);
    const settle = (): void => {
      clearTimeout(timer);
      interrupted.removeEventListener('abort', stop);
    };
    child.stdout.on('data', (part: Buffer) => (said += part.toString()));
    child.on('error', () => (settle(), resolve(undefined)));
    child.on('close', (status) => (settle(), resolve(status === 0 ? said.trim() : undefined)));
    interrupted.addEventListener('abort', stop, { once: true });
    if (interrupted.aborted) stop();
  });

/** Ends a program and whatever it started. */
const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
};

/** Long-running programs of a test cluster: started apart from us, known by a pid file, told apart from a later process of the same pid. */
import { spawn } from 'node:child_process';
import { existsSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** State letter and start time of a process (proc(5)); undefined when it is gone or a zombie, which only its parent still sees. */
const startOf = (pid: number): string | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

const pidFile = (directory: string, name: string): string => join(directory, 'pid', name);

/** The pid of a program that runs. */
export const pidOf = (directory: string, name: string): number | undefined => {
  const file = pidFile(directory, name);
  if (!existsSync(file)) return undefined;
  const [pid = '', start] = readFileSync(file, 'utf8').split(' ');
  return startOf(Number(pid)) === start ? Number(pid) : undefined;
};

/** Starts a program in a session of its own, its output in the log; nothing when it runs already. */
export const start = (directory: string, name: string, words: readonly string[]): void => {
  if (pidOf(directory, name) !== undefined) return;
  const log = openSync(join(directory, 'log', `${name}.log`), 'a');
  const child = spawn(words[0]!, words.slice(1), { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.on('error', (error) => console.error(`${name}: ${error.message}`));
  child.unref();
  if (child.pid !== undefined)
    writeFileSync(pidFile(directory, name), `${child.pid} ${startOf(child.pid) ?? ''}`);
};

/** Stops programs: all are told at once, then waited for, then killed. */
export const stop = async (
  directory: string,
  names: readonly string[],
  patience_ms = 5000,
): Promise<void> => {
  const tell = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    for (const name of names) {
      const pid = pidOf(directory, name);
      if (pid !== undefined) process.kill(pid, signal);
    }
  };
  tell('SIGTERM');
  const until = performance.now() + patience_ms;
  while (names.some((name) => pidOf(directory, name) !== undefined) && performance.now() < until)
    await Bun.sleep(50);
  tell('SIGKILL');
  for (const name of names) rmSync(pidFile(directory, name), { force: true });
};

/** Waits until a condition holds. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  patience_ms = 120_000,
): Promise<void> => {
  const end = performance.now() + patience_ms;
  for (;;) {
    if (await holds()) return;
    if (performance.now() > end) throw new Error(`${what}: not within ${patience_ms / 1000} s`);
    await Bun.sleep(100);
  }
};

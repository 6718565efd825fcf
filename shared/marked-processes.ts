/** Processes told by a variable in their environment: it reaches all that a process starts, also what leaves its group, its session and its parent. */
import { readdirSync, readFileSync } from 'node:fs';

/** How long they are killed again and again, ms: one may start another in the same moment. */
const PATIENCE_MS = 2000;
const EVERY_MS = 20;

/** Living processes of this user whose environment has that variable with that value; this process is none of them. */
export const markedProcesses = (variable: string, value: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^[1-9][0-9]*$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`${variable}=${value}`);
      } catch {
        // It ended, or is somebody else's.
        return false;
      }
    })
    .map(Number);

/** Kills them at once; returns how many. */
export const killMarked = (variable: string, value: string): number => {
  let killed = 0;
  for (const pid of markedProcesses(variable, value))
    try {
      process.kill(pid, 'SIGKILL');
      killed++;
    } catch {
      // It ended by itself.
    }
  return killed;
};

/** Kills them until none is left, or for two seconds; returns how many kills it took. */
export const endMarked = async (variable: string, value: string): Promise<number> => {
  let all = 0;
  for (let waited = 0; waited < PATIENCE_MS; waited += EVERY_MS) {
    const killed = killMarked(variable, value);
    if (killed === 0) break;
    all += killed;
    await Bun.sleep(EVERY_MS);
  }
  return all;
};

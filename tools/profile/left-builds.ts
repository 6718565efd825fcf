/** Builds that outlive the k8sbench that started them, killed as it was: they would write into the next one's tree. */
import { readdirSync, readFileSync } from 'node:fs';

/** In the environment of a build and of all that it starts; the value is the entry that it builds. */
export const MARK = 'K8SBENCH_BUILD';

/** How long they are killed again and again, ms: one may start another in the same moment. */
const PATIENCE_MS = 2000;
const EVERY_MS = 20;

const processesOf = (entry: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`${MARK}=${entry}`);
      } catch {
        // It ended, or is somebody else's.
        return false;
      }
    })
    .map(Number);

/** Ends every process that a killed k8sbench left building an entry. Only for the holder of the entry's lock: nobody else builds it then. */
export const endLeftBuilds = async (entry: string): Promise<number> => {
  const ended = new Set<number>();
  for (let waited = 0; waited < PATIENCE_MS; waited += EVERY_MS) {
    const left = processesOf(entry);
    if (left.length === 0) break;
    for (const pid of left)
      try {
        process.kill(pid, 'SIGKILL');
        ended.add(pid);
      } catch {
        // It ended by itself.
      }
    await Bun.sleep(EVERY_MS);
  }
  return ended.size;
};

/**
 * Everything that runs in the trial's container, and its end. The trial is the container's first process: signals to
 * "everybody" reach all others and never itself, and what the agent started stays visible in whatever session or group it hides.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { isDead, processStat } from '../../../shared/process-stat.ts';
import { sleep } from './exchange.ts';

/** Processes beside the first one that are not over; a zombie does nothing any more. */
const othersAlive = (proc = '/proc'): number[] =>
  readdirSync(proc)
    .filter((name) => /^\d+$/.test(name) && name !== '1')
    .map(Number)
    .filter((pid) => {
      try {
        const stat = processStat(readFileSync(`${proc}/${pid}/stat`, 'latin1'));
        return stat !== undefined && !isDead(stat);
      } catch {
        return false;
      }
    });

/** How many there are, zombies too; cheap, because it is asked often. */
export const countOthers = (proc = '/proc'): number =>
  readdirSync(proc).filter((name) => /^\d+$/.test(name) && name !== '1').length;

const ROUNDS = 50;

const signalAll = (signal: NodeJS.Signals): void => {
  try {
    process.kill(-1, signal);
  } catch {
    // Nobody is left, or none that may be signalled: the next look tells.
  }
};

/** Ends all other processes; those that are still there in the end are given back. Stopped first, so that none forks on. */
export const endOthers = async (): Promise<number[]> => {
  if (process.pid !== 1) throw new Error('only the first process of a container may end all others');
  for (let round = 0; round < ROUNDS; round++) {
    if (othersAlive().length === 0) return [];
    signalAll('SIGSTOP');
    signalAll('SIGKILL');
    await sleep(20 + round * 5);
  }
  return othersAlive();
};

/** The machine a run was made on, as a reader needs it to judge the figures; not whose it is. */
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

export interface Machine {
  cpu: string;
  cores: number;
  kernel: string;
  memoryGB: number;
  /** Of the last minute, when the run began and when it ended. */
  loadBefore: number;
  loadAfter: number;
  bun: string;
  node: string;
  at: string;
}

export const load = (): number => Number(readFileSync('/proc/loadavg', 'latin1').split(' ')[0]);

export const machineNow = (loadBefore: number, node: string): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  kernel: release(),
  memoryGB: Math.round(totalmem() / 1e9),
  loadBefore,
  loadAfter: load(),
  bun: Bun.version,
  node,
  at: new Date().toISOString().slice(0, 10),
});

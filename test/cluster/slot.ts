/** What several test clusters on one machine can't share (pod networks, cgroups): each takes a number for as long as it is there. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = join(tmpdir(), 'k8sbench-test-slots');
const SLOTS = 50;

/** The slot that a cluster's directory holds. */
export const slotOf = (directory: string): number | undefined => {
  if (!existsSync(home)) return undefined;
  const found = readdirSync(home).find((name) => readFileSync(join(home, name), 'utf8') === directory);
  return found === undefined ? undefined : Number(found);
};

/** Takes the first slot that is free, or whose cluster is gone. */
export const takeSlot = (directory: string): number => {
  mkdirSync(home, { recursive: true });
  for (let slot = 0; slot < SLOTS; slot++) {
    const path = join(home, String(slot));
    if (existsSync(path) && !existsSync(readFileSync(path, 'utf8'))) rmSync(path, { force: true });
    try {
      writeFileSync(path, directory, { flag: 'wx' });
      return slot;
    } catch {
      // Somebody's.
    }
  }
  throw new Error(`all ${SLOTS} slots for test clusters are taken; see '${home}'`);
};

export const freeSlot = (directory: string): void => {
  const slot = slotOf(directory);
  if (slot !== undefined) rmSync(join(home, String(slot)), { force: true });
};

/** The first numbers of its pods' addresses; a node's number is the third. */
export const networkOf = (slot: number): string => `10.${200 + slot}`;
export const cgroupOf = (slot: number, node: number): string => `k8sbench-test-${slot}-${node}`;

/**
 * What local sessions left on this machine whose runner was killed and whose run nobody took up again: empty cgroups and
 * directories of fixtures. The next session on this machine removes it, without a word: it is in nobody's way.
 */
import { closeSync, existsSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isStill, lockFile, tryLockFile } from '../../shared/locks.ts';
import { markedProcesses } from '../../shared/marked-processes.ts';
import { removeLeaf } from './accounting-cgroup.ts';
import { isOwnDirectory, MARK } from './leftovers.ts';

/** What is younger may belong to a runner that is about to enter its cgroup, or to lock its file. */
const SETTLED_MS = 60_000;

const LEAF = /^k8sbench-.+-(\d+)$/;
const DATA = /^k8sbench-.+-[0-9a-f]{8}$/;
/** In a directory of fixtures, locked while its runner lives: process ids of another container say nothing here. */
const HELD = '.runner';

const list = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

const isSettled = (path: string, now: number): boolean => {
  const about = lstatSync(path, { throwIfNoEntry: false });
  return about !== undefined && now - about.mtimeMs > SETTLED_MS;
};

/** Makes a directory of fixtures one that is abandoned when this process is; gives what ends that. */
export const holdData = (data: string): (() => void) => {
  const fd = openSync(join(data, HELD), 'wx', 0o600);
  lockFile(fd);
  return () => closeSync(fd);
};

/** Removes leaves of the cgroup `parent` whose runner, the process id in the name, is gone and that nobody is in. */
export const removeAbandonedLeaves = (parent: string, now: number): void => {
  for (const name of list(parent)) {
    const pid = LEAF.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`) && isSettled(join(parent, name), now))
      removeLeaf(join(parent, name));
  }
};

const removeIfAbandoned = async (data: string, now: number): Promise<void> => {
  const held = join(data, HELD);
  if (!isOwnDirectory(data) || !isSettled(held, now)) return;
  const fd = openSync(held, 'r');
  try {
    if (tryLockFile(fd) && isStill(held, fd) && markedProcesses(MARK, data).length === 0)
      await rm(data, { recursive: true, force: true });
  } finally {
    closeSync(fd);
  }
};

/** Removes directories of fixtures below `temporary` whose runner is gone and that no process of their session uses. */
export const removeAbandonedData = async (temporary: string, now: number): Promise<void> => {
  for (const name of list(temporary))
    if (DATA.test(name))
      // What another runner removes at this moment is gone as well.
      await removeIfAbandoned(join(temporary, name), now).catch(() => undefined);
};

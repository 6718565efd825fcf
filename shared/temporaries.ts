/** Temporary files beside the file that they become. Their writer holds their lock, so one whose writer was killed is told from one at work. */
import { closeSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isStill, lockFile, tryLockFile } from './locks.ts';

const ENDING = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Removes what killed writers of a file left beside it. What can't be removed stays: it is in nobody's way. */
const removeAbandoned = (path: string): void => {
  const [directory, name] = [dirname(path), basename(path)];
  for (const other of readdirSync(directory)) {
    if (!other.startsWith(name) || !ENDING.test(other.slice(name.length))) continue;
    const temporary = join(directory, other);
    try {
      const fd = openSync(temporary, 'r');
      try {
        if (tryLockFile(fd) && isStill(temporary, fd)) unlinkSync(temporary);
      } finally {
        closeSync(fd);
      }
    } catch {
      // Its writer finished at this moment, or it is not ours to remove.
    }
  }
};

/** A new temporary file for what a file is to hold, open for writing; its lock lasts until `fd` is closed. */
export const openTemporary = (path: string): { fd: number; temporary: string } => {
  try {
    removeAbandoned(path);
  } catch {
    // A directory that can't be listed may still be written into.
  }
  for (;;) {
    const temporary = `${path}.${crypto.randomUUID()}.tmp`;
    let fd: number;
    try {
      fd = openSync(temporary, 'wx', 0o666);
    } catch (error) {
      // About the file that was meant.
      throw Object.assign(error as Error, { path });
    }
    // Between open and lock another writer may take it for abandoned. Where there are no locks nobody can.
    if (!lockFile(fd) || isStill(temporary, fd)) return { fd, temporary };
    closeSync(fd);
  }
};

/** Locks on open files: flock(2), because the kernel releases it when its holder is killed; a lock file would have to be guessed stale. */
import { FFIType } from 'bun:ffi';
import { fstatSync, statSync } from 'node:fs';
import { fromLibc } from './libc.ts';

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
let flock: ((fd: number, operation: number) => number) | undefined;

const flockOf = (): ((fd: number, operation: number) => number) | undefined => {
  flock ??= fromLibc({ flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } })?.flock;
  return flock;
};

/** Waits for the exclusive lock of an open file; false where its file system has none. */
export const lockFile = (fd: number): boolean => {
  // EINTR is worth another try; what fails a hundred times is a file system without locks.
  for (let tries = 0; tries < 100; tries++) if (flockOf()?.(fd, LOCK_EX) === 0) return true;
  return false;
};

/** Waits until nobody has the exclusive lock of an open file, and keeps it from others; several may share it. */
export const shareFile = (fd: number): boolean => {
  for (let tries = 0; tries < 100; tries++) if (flockOf()?.(fd, LOCK_SH) === 0) return true;
  return false;
};

/** Takes the exclusive lock of an open file unless somebody else has it. */
export const tryLockFile = (fd: number): boolean => flockOf()?.(fd, LOCK_EX | LOCK_NB) === 0;

/** Another process may have replaced or removed the file between open and lock; then the lock protects nothing. */
export const isStill = (path: string, fd: number): boolean => {
  const now = statSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return now !== undefined && now.ino === held.ino && now.dev === held.dev;
};

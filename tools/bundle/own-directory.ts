/** Directories of a build's own. Who makes one holds its lock, so one whose maker was killed is told from one at work, and removed. */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isStill, lockFile, tryLockFile } from '../../shared/locks.ts';

const ENDING = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Removes what killed makers left. What can't be removed stays: it is in nobody's way. */
const removeAbandoned = (path: string): void => {
  const [parent, name] = [dirname(path), basename(path)];
  for (const other of readdirSync(parent)) {
    if (!other.startsWith(name) || !ENDING.test(other.slice(name.length))) continue;
    const left = join(parent, other);
    try {
      const fd = openSync(left, 'r');
      try {
        if (tryLockFile(fd) && isStill(left, fd)) rmSync(left, { recursive: true, force: true });
      } finally {
        closeSync(fd);
      }
    } catch {
      // Its maker finished at this moment, or it is not ours to remove.
    }
  }
};

/** Hands an empty directory beside `path`, named after it, to `use`; it is gone afterwards, unless it was moved away. */
export const withOwnDirectory = async <T>(
  path: string,
  use: (directory: string) => Promise<T>,
): Promise<T> => {
  mkdirSync(dirname(path), { recursive: true });
  removeAbandoned(path);
  const directory = `${path}.${crypto.randomUUID()}.tmp`;
  mkdirSync(directory);
  const fd = openSync(directory, 'r');
  try {
    lockFile(fd);
    return await use(directory);
  } finally {
    closeSync(fd);
    rmSync(directory, { recursive: true, force: true });
  }
};

/**
 * One digest for a directory: SHA-256 over the sha256sum lines of its files, in bytewise path order. Runs in pods too, so
 * it needs nothing but Node's own modules.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

export interface TreeFile {
  /** From the directory, `/` as separator. */
  path: string;
  sha256: string;
  executable: boolean;
}

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** SHA-256 of a file that is no link, in blocks: files of tests may be large. */
const digestOf = (path: string): string => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`'${path}' is no file`);
    const hash = createHash('sha256');
    const block = Buffer.allocUnsafe(1 << 20);
    for (let got = readSync(fd, block); got > 0; got = readSync(fd, block))
      hash.update(block.subarray(0, got));
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
};

/**
 * Every file below a directory, in bytewise order of the paths. Links and everything else that is neither file nor directory
 * are errors: what a digest says must be all there is.
 */
export const treeOf = (directory: string): TreeFile[] => {
  const files: TreeFile[] = [];
  const walk = (at: string): void => {
    for (const name of readdirSync(join(directory, at))) {
      const path = at === '' ? name : `${at}/${name}`;
      if (/[\n\r\\]/.test(name)) throw new Error(`'${path}' has a name that no list of digests can carry`);
      const about = lstatSync(join(directory, path));
      if (about.isDirectory()) walk(path);
      else if (about.isFile())
        files.push({
          path,
          sha256: digestOf(join(directory, path)),
          executable: (about.mode & 0o100) !== 0,
        });
      else throw new Error(`'${path}' is neither a file nor a directory`);
    }
  };
  walk('');
  return files.toSorted((a, b) => bytewise(a.path, b.path));
};

/** The digest of such a list. */
export const listDigest = (files: readonly Pick<TreeFile, 'path' | 'sha256'>[]): string =>
  createHash('sha256')
    .update(files.map((one) => `${one.sha256}  ${one.path}\n`).join(''))
    .digest('hex');

/** The digest of a directory's files. */
export const treeDigest = (directory: string): string => listDigest(treeOf(directory));

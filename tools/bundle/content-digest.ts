/** The content digest of installed packages: SHA-256 over the sha256sum lines of all files, in bytewise path order. Spec §8. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256, sha256File } from '../../shared/files.ts';

/** Digest of the files below a directory, paths relative to it; node_modules inside of it are left out. */
export const contentDigest = async (directory: string): Promise<string> => {
  const paths: string[] = [];
  const walk = (at: string): void => {
    for (const one of readdirSync(join(directory, at), { withFileTypes: true })) {
      const path = at === '' ? one.name : `${at}/${one.name}`;
      if (one.isDirectory() && one.name !== 'node_modules') walk(path);
      else if (one.isFile()) paths.push(path);
    }
  };
  walk('');
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const lines: string[] = [];
  for (const path of paths) lines.push(`${await sha256File(join(directory, path))}  ${path}\n`);
  return sha256(lines.join(''));
};

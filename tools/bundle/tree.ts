/** Directories of built files: the same modes everywhere, nothing but files and links that stay inside. */
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileDigest } from '../../shared/bundle/digest.ts';
import { leadsOut } from '../../shared/bundle/links.ts';
import { failed } from '../../shared/failure.ts';

export interface BuiltFile {
  path: string;
  size: number;
  sha256: string;
  executable: boolean;
  /** Of a link: then size is 0 and the digest empty. */
  target?: string;
}

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Everything below a directory that is no directory, in bytewise order. */
const pathsBelow = (directory: string): string[] => {
  const paths: string[] = [];
  const walk = (at: string): void => {
    for (const one of readdirSync(join(directory, at), { withFileTypes: true })) {
      const path = at === '' ? one.name : `${at}/${one.name}`;
      if (one.isDirectory()) walk(path);
      else paths.push(path);
    }
  };
  walk('');
  return paths.toSorted(bytewise);
};

/** Gives files the two modes that bundles have; what could not be carried is an error that names it. */
export const normalise = (directory: string): void => {
  const problems: string[] = [];
  const links = new Map<string, string>();
  for (const path of pathsBelow(directory)) {
    const about = lstatSync(join(directory, path));
    if (/[\n\r\\]/.test(path)) problems.push(`'${path}' has a name that no list of digests can carry`);
    if (about.isSymbolicLink()) links.set(path, readlinkSync(join(directory, path)));
    else if (about.isFile()) chmodSync(join(directory, path), (about.mode & 0o100) !== 0 ? 0o755 : 0o644);
    else problems.push(`'${path}' is neither a file nor a directory nor a link`);
  }
  for (const [path, target] of links)
    if (leadsOut(path, links))
      problems.push(`the link '${path}' leaves the bundle: it points to '${target}'`);
  if (problems.length > 0) throw failed(problems);
};

/** All files and links below a directory, with their digests. */
export const listOf = async (directory: string): Promise<BuiltFile[]> => {
  const files: BuiltFile[] = [];
  for (const path of pathsBelow(directory)) {
    const full = join(directory, path);
    const about = lstatSync(full);
    files.push(
      about.isSymbolicLink()
        ? { path, size: 0, sha256: '', executable: false, target: readlinkSync(full) }
        : { path, size: about.size, sha256: await fileDigest(full), executable: (about.mode & 0o100) !== 0 },
    );
  }
  return files;
};

/** Copies built files into another directory; one that is there already is an error. */
export const copyBuilt = (from: string, files: readonly BuiltFile[], to: string): void => {
  for (const { path, target, executable } of files) {
    const into = join(to, path);
    mkdirSync(dirname(into), { recursive: true });
    if (lstatSync(into, { throwIfNoEntry: false }))
      throw failed(`two artifacts have the file '${path}'; give one of them another place`);
    if (target !== undefined) symlinkSync(target, into);
    else {
      copyFileSync(join(from, path), into, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      chmodSync(into, executable ? 0o755 : 0o644);
    }
  }
};

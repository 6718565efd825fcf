/** The directory of the built-in workloads, `{root}` of local delivery: a process that runs one reads it from a disk. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { cause, failed } from './failure.ts';
import { sha256 } from './files.ts';
import { carried, inTree, type PackedFiles } from './own-files.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Directories of our own that files may be unpacked into, the best first: the user's cache, else a temporary one. */
const cachesOf = (env: Env): string[] => {
  const given = env['XDG_CACHE_HOME'] ?? '';
  const home = env['HOME'] || homedir();
  const user = isAbsolute(given) ? given : isAbsolute(home) ? join(home, '.cache') : undefined;
  return [
    ...(user === undefined ? [] : [join(user, 'k8sbench')]),
    join(env['TMPDIR'] || tmpdir(), `k8sbench-${process.getuid?.() ?? 'user'}`),
  ];
};

/** Whether a directory holds these files and no others, each as it should be. */
const isIntact = (root: string, files: PackedFiles): boolean => {
  try {
    const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter(
      (one) => !one.isDirectory(),
    );
    return (
      found.length === Object.keys(files).length &&
      found.every((one) => one.isFile()) &&
      Object.entries(files).every(([path, file]) => sha256(readFileSync(join(root, path))) === file.sha256)
    );
  } catch {
    return false;
  }
};

/** Makes a directory that nobody else may write into, or refuses the one that is there: what lies in it will be run. */
const makeOwn = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(path);
  const owner = process.getuid?.() ?? uid;
  if ((uid !== owner && uid !== 0) || (mode & 0o022) !== 0)
    throw failed('others can write into it; remove it, or chmod go-w it');
};

/**
 * The files on disk, below `cache` in a directory named by their digest. It appears whole or not at all, and is looked
 * through each time: what isn't as it was unpacked is unpacked anew. No fsync: half-written files show as others.
 */
export const unpackInto = (cache: string, files: PackedFiles): string => {
  const digest = sha256(
    Object.entries(files)
      .map(([path, file]) => `${file.sha256}  ${path}\n`)
      .toSorted()
      .join(''),
  );
  const root = join(cache, `workloads-${digest.slice(0, 16)}`);
  makeOwn(cache);
  if (isIntact(root, files)) return root;
  const fresh = mkdtempSync(`${root}.`);
  try {
    for (const [path, { file }] of Object.entries(files)) {
      mkdirSync(dirname(join(fresh, path)), { recursive: true });
      writeFileSync(join(fresh, path), readFileSync(file));
    }
    // Another process may be at it too: whoever comes second finds it there, whole.
    if (!isIntact(root, files)) {
      rmSync(root, { recursive: true, force: true });
      renameSync(fresh, root);
    }
  } catch (error) {
    if (!isIntact(root, files)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return root;
};

/**
 * Files of packages that workloads import, below `{root}`: path → where it is in the source tree. There a workload finds them
 * in the tree's own node_modules; where it travels, they go with it. Empty in a compiled binary, whose workloads have them.
 */
export const packagesOfWorkloads = (): Record<string, string> =>
  carried()
    ? {}
    : Object.fromEntries(
        ['package.json', 'lib-headless/xterm-headless.js'].map((file) => [
          `lib/node_modules/@xterm/headless/${file}`,
          inTree(`node_modules/@xterm/headless/${file}`),
        ]),
      );

/** The directory that holds the built-in workloads as a bundle's root does; unpacked from a compiled binary when needed. */
export const workloadsRoot = (env: Env): string => {
  const files = carried();
  if (!files) return inTree('shared/workloads');
  const problems: string[] = [];
  for (const cache of cachesOf(env))
    try {
      return unpackInto(cache, files);
    } catch (error) {
      problems.push(`can't unpack the built-in workloads into '${cache}': ${cause(error)}`);
    }
  throw failed([...problems, 'name a directory that can be written with XDG_CACHE_HOME']);
};

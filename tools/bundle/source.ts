/** The source tree that a bundle is built from: its commit, and its files as git knows them. Ignored files have no part in a build. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { fileDigest } from '../../shared/bundle/digest.ts';
import { leadsOut } from '../../shared/bundle/links.ts';
import { sha256 } from '../../shared/files.ts';
import { gitIn } from '../../shared/git.ts';
import { changesIn, pathsOf } from './tree-state.ts';

export interface SourceFile {
  /** From the tree's top. */
  path: string;
  executable: boolean;
  /** Of a symbolic link. */
  target?: string;
}

export interface Source {
  /** The tree's top. */
  top: string;
  commit: string;
  /** The recipe's path from the top. */
  recipe: string;
  /** Files below these paths, in bytewise order; a path that git knows no file of is an error. */
  below(paths: readonly string[]): SourceFile[];
}

/** Uncommitted files told by name. */
const TOLD = 10;

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const sourceFile = (top: string, path: string): SourceFile | undefined => {
  const about = lstatSync(join(top, path), { throwIfNoEntry: false });
  // Removed and not committed: the tree is dirty, and the file is not there.
  if (!about) return undefined;
  if (about.isSymbolicLink()) return { path, executable: false, target: readlinkSync(join(top, path)) };
  if (about.isDirectory())
    throw failed(`'${path}' is a repository inside the source tree; its files are not part of the commit`);
  if (!about.isFile()) throw failed(`'${path}' in the source tree is neither a file nor a link`);
  return { path, executable: (about.mode & 0o100) !== 0 };
};

/** Why a recipe has no source tree, in git's words where they say more than that there is none. */
const noTree = (git: ReturnType<typeof gitIn>, recipe: string): Failure => {
  try {
    git.run('rev-parse', '--show-toplevel');
  } catch (error) {
    const words = error instanceof Failure ? error.message : '';
    // Another user's repository, for example: git says so, and how to allow it.
    if (!words.includes('not a git repository'))
      return usage(`recipe '${recipe}': ${words.replace(/\s+/g, ' ')}`);
  }
  return usage(`recipe '${recipe}' stands in no git repository: a bundle is built from a commit`);
};

/** Whether a path of the tree belongs to the bundle that is built into it, or to what a build left beside that. */
const isOutput = (top: string, out: string): ((path: string) => boolean) => {
  const parent = existsSync(dirname(out)) ? realpathSync(dirname(out)) : dirname(out);
  const [place, name] = [relative(top, parent), basename(out)];
  const beginning = place === '' ? '' : `${place}/`;
  return (path) => {
    const first = path.startsWith(beginning) ? path.slice(beginning.length).split('/')[0]! : '';
    return (
      first === name ||
      ((first.startsWith(`.${name}.`) || first.startsWith(`${name}.`)) && /\.(tmp|old)$/.test(first))
    );
  };
};

/** The git tree that a directory stands in, without the bundle `out` that is built into it. A tree that holds more than its commit is refused, or marked. */
export const openSource = (
  directory: string,
  recipe: string,
  env: Readonly<Record<string, string | undefined>>,
  allowDirty: boolean,
  out: string,
): Source => {
  const git = gitIn(directory, env);
  const top = git.try('rev-parse', '--show-toplevel');
  if (top === undefined) throw noTree(git, recipe);
  const commit = gitIn(top, env).try('rev-parse', '--verify', 'HEAD^{commit}');
  if (commit === undefined) throw usage(`the git repository of '${recipe}' has no commit yet`);
  const isOurs = isOutput(top, out);
  const changed = changesIn(top, env, isOurs);
  if (changed.length > 0 && !allowDirty)
    throw usage([
      ...changed.slice(0, TOLD),
      ...(changed.length > TOLD ? [`${changed.length - TOLD} more files are not committed`] : []),
      "commit, ignore or remove them; '--allow-dirty' builds them and marks the bundle '-dirty'",
    ]);
  const untracked = pathsOf(top, env, ['ls-files', '--others', '--exclude-standard']).filter(
    (one) => !isOurs(one),
  );
  const all = [...new Set([...pathsOf(top, env, ['ls-files', '--cached']), ...untracked])].toSorted(bytewise);
  return {
    top,
    commit: commit + (changed.length > 0 ? '-dirty' : ''),
    recipe: (git.run('rev-parse', '--show-prefix') + recipe.split('/').at(-1)!).replace(/^\.\//, ''),
    below(paths) {
      for (const one of paths)
        if (one !== '.' && !all.some((path) => path === one || path.startsWith(`${one}/`)))
          throw usage(
            `recipe: git knows no file below '${one}' in the source tree; is it ignored, or misspelled?`,
          );
      const found = all
        .filter((path) => paths.some((one) => one === '.' || path === one || path.startsWith(`${one}/`)))
        .map((path) => sourceFile(top, path))
        .filter((one) => one !== undefined);
      const links = new Map(
        found.flatMap(({ path, target }) => (target === undefined ? [] : [[path, target] as const])),
      );
      const outside = found.filter(({ path, target }) => target !== undefined && leadsOut(path, links));
      if (outside.length > 0)
        throw failed(
          outside.map((one) => `the link '${one.path}' leaves the source tree: it points to '${one.target}'`),
        );
      return found;
    },
  };
};

/** Digest over paths, modes and contents of files below a directory. */
export const digestOf = async (directory: string, files: readonly SourceFile[]): Promise<string> => {
  const lines: string[] = [];
  for (const { path, executable, target } of files)
    lines.push(
      target === undefined
        ? `${await fileDigest(join(directory, path))} ${executable ? 'x' : '-'} ${path}\0`
        : `${sha256(target)} l ${path}\0`,
    );
  return sha256(lines.join(''));
};

/** Copies files of the tree to a place of their own, with plain modes: a build sees these and no others. */
export const copySource = (top: string, files: readonly SourceFile[], to: string, strip = ''): void => {
  for (const { path, executable, target } of files) {
    const into = join(to, path.slice(strip.length));
    mkdirSync(dirname(into), { recursive: true });
    if (target !== undefined) symlinkSync(target, into);
    else {
      copyFileSync(join(top, path), into);
      chmodSync(into, executable ? 0o755 : 0o644);
    }
  }
};

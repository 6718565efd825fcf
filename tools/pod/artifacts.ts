import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, relative, resolve } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { fill, rootPathsIn, settledPath, uses } from '../../schemas/placeholders.ts';
import { versionsIn } from '../../shared/bundle/versions.ts';
import { commitNamed, commitProblem } from '../../shared/commit-name.ts';
import { isExecutable, isFile } from '../../shared/file-kinds.ts';
import { SessionError } from './session-error.ts';

const LOCKFILE =
  /^(package-lock\.json|npm-shrinkwrap\.json|bun\.lockb?|yarn\.lock|pnpm-lock\.yaml|go\.sum|.*\.lock)$/;
const SCRIPTS = new Set('.js .mjs .cjs .ts .mts .py .sh .rb .pl .php .lua .wasm .jar'.split(' '));

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** The program that a bare word starts, as execvp(3) looks for it; absent when there is none. */
export const which = (word: string, path: string, cwd: string): string | undefined => {
  if (word.includes('/')) return resolve(cwd, word);
  return path
    .split(':')
    .map((directory) => resolve(cwd, directory, word))
    .find(isExecutable);
};

/** Files that an ARTIFACTS.sha256 lists, by path. */
const listed = (root: string): string[] =>
  [...(textOf(join(root, 'ARTIFACTS.sha256')) ?? '').matchAll(/^[0-9a-f]{64} [ *](.+)$/gm)].map((one) =>
    one[1]!.replace(/^\.\//, ''),
  );

const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

/** Paths a command names: its program, everything under `{root}`, and scripts given as arguments. */
const pathsOf = (
  command: readonly string[],
  root: string,
  turns: number,
  path: string,
  cwd: string,
): string[] =>
  command.flatMap((word, at) => {
    if (root !== '' && uses(word, 'root'))
      return rootPathsIn(word).flatMap((part) => {
        const below = settledPath(part, { turns });
        return below === undefined ? [] : [`${root}/${below}`];
      });
    // What the session itself makes is no artifact.
    if (uses(word, 'dir') || uses(word, 'sample')) return [];
    const filled = fill(word, { turns });
    if (at === 0) return which(filled, path, cwd) ?? [];
    const argument = resolve(cwd, filled);
    const isCode = filled !== '' && (SCRIPTS.has(extname(filled)) || isExecutable(argument));
    return isCode && isFile(argument) ? [argument] : [];
  });

/**
 * What is hashed before and after: ARTIFACTS.sha256 itself, bin/, lockfiles, and each target's programs. Keys are paths below
 * the root, or whole ones outside it.
 */
export const artifactPaths = (
  plan: CompactPlan,
  root: string,
  path: string,
  cwd: string,
): Map<string, string> => {
  const own =
    root === ''
      ? []
      : [
          'ARTIFACTS.sha256',
          ...namesIn(join(root, 'bin')).map((name) => `bin/${name}`),
          ...[...namesIn(root), ...listed(root)].filter((name) => LOCKFILE.test(name.split('/').at(-1)!)),
        ].map((name) => join(root, name));
  const named = plan.profile.targets.flatMap((target) =>
    [target.seed, target.sample, target.command, target.prepare].flatMap((command) =>
      plan.turns.flatMap((turns) => pathsOf(command ?? [], root, turns, path, cwd)),
    ),
  );
  const all = [...own, ...named].filter((one) => statSync(one, { throwIfNoEntry: false }) !== undefined);
  const key = (one: string): string => {
    const below = root === '' ? '..' : relative(root, one);
    return below.startsWith('..') || isAbsolute(below) ? one : below;
  };
  return new Map(all.map((one) => [key(one), one]));
};

const fileDigest = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(part as Buffer);
  return hash.digest('hex');
};

/** Files below a directory, nested node_modules excepted, in bytewise order of their paths. */
const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split('/').includes('node_modules'))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** SHA-256 of a file; of a directory, that of its files' sha256sum lines (spec §8, content digest). */
const digest = async (path: string): Promise<string> => {
  if (isFile(path)) return fileDigest(path);
  const hash = createHash('sha256');
  for (const name of filesBelow(path)) hash.update(`${await fileDigest(join(path, name))}  ${name}\n`);
  return hash.digest('hex');
};

/** Digest of each artifact, `gone` where it is no more. */
export const artifactDigests = async (
  paths: ReadonlyMap<string, string>,
): Promise<Record<string, string>> => {
  const digests: Record<string, string> = {};
  for (const [key, path] of paths)
    digests[key] = statSync(path, { throwIfNoEntry: false }) ? await digest(path) : 'gone';
  return digests;
};

/** Refuses a session whose artifacts are not those it began with. */
export const refuseChanged = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): void => {
  const changed = Object.keys(before).filter((key) => before[key] !== after[key]);
  if (changed.length > 0)
    throw new SessionError(
      'artifacts',
      `artifacts changed during the session: ${changed.map((key) => `'${key}'`).join(', ')}; ` +
        'its samples measured different programs, run it again and leave them alone',
    );
};

/** A file of the root; without a root there is none, whatever stands where the session was started. */
const textIn = (root: string, name: string): string | undefined =>
  root === '' ? undefined : textOf(join(root, name));

/** The commit that the artifacts were built from; without a COMMIT neither it nor a problem. */
export const commitIn = (root: string): { commit?: string; problem?: string } => {
  const text = textIn(root, 'COMMIT');
  if (text === undefined) return {};
  const commit = commitNamed(text);
  return commit === undefined ? { problem: commitProblem(text, `'${root}/COMMIT'`)! } : { commit };
};

/** What VERSIONS says; empty without the file. */
export const versionsOf = (root: string): Record<string, string> =>
  versionsIn(textIn(root, 'VERSIONS') ?? '');

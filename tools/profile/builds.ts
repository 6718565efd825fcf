/**
 * Builds of commits in git worktrees, kept in a cache directory by commit and build command: asking again builds nothing.
 *
 *   <cache>/k8sbench/builds/<repository>/<commit>-<build>/tree        the worktree
 *                                                        build.log   all that the build printed
 *                                                        built.json  written last: without it the build is begun again
 *                                                        measured.lock  held by sessions that measure from it
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { tryLock, writeAtomically } from '../../shared/files.ts';
import type { Git } from '../../shared/git.ts';
import { BUILT, MEASURED } from '../../shared/kept-builds.ts';
import { endMarked } from '../../shared/marked-processes.ts';
import { jsonText } from '../../shared/read.ts';
import type { Talk } from '../../shared/talk.ts';
import type { World } from '../../shared/world.ts';

/** In the environment of a build and of all that it starts; the value is the entry that it builds. */
const MARK = 'K8SBENCH_BUILD';

export interface BuildPlan {
  git: Git;
  /** Full commit id to check out. */
  commit: string;
  /** What the user calls it, for messages. */
  shown: string;
  /** Commands run one after another in `<tree>/<prefix>`. */
  commands: readonly (readonly string[])[];
  /** The current directory relative to the repository's top; '' at the top. */
  prefix: string;
}

const short = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

/** Where the builds of one repository are kept. */
export const buildsDirectory = (git: Git, env: World['env']): string => {
  const home = env['XDG_CACHE_HOME'] || (env['HOME'] ? join(env['HOME'], '.cache') : undefined);
  if (!home?.startsWith('/'))
    throw usage('no place to keep builds: set HOME or XDG_CACHE_HOME to an absolute path');
  const common = git.run('rev-parse', '--path-format=absolute', '--git-common-dir');
  return join(home, 'k8sbench', 'builds', `${basename(join(common, '..'))}-${short(common, 8)}`);
};

/** The last lines of what a build printed, indented, for an error message. */
const endOf = (log: string, lines = 20): string =>
  readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => `\n    ${line}`)
    .join('');

/** Runs one command to its end in a process group of its own, so that an interrupt ends what it started too. */
const runIn = (
  directory: string,
  words: readonly string[],
  log: string,
  entry: string,
  world: World,
): Promise<number | string> =>
  new Promise((resolve) => {
    const output = openSync(log, 'a');
    const own = Object.fromEntries(Object.entries(world.env).filter(([name]) => !name.startsWith('GIT_')));
    const env = { ...own, [MARK]: entry };
    const child = spawn(words[0]!, words.slice(1), {
      cwd: directory,
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    const stop = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      } catch {
        // It ended at the same moment.
      }
    };
    world.interrupted.addEventListener('abort', stop, { once: true });
    const end = (how: number | string): void => {
      world.interrupted.removeEventListener('abort', stop);
      closeSync(output);
      resolve(how);
    };
    child.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ENOENT' ? `'${words[0]}' was not found` : error.message),
    );
    child.on('exit', (code, signal) => end(code ?? `signal ${signal}`));
  });

/** Takes a lock; while another k8sbench builds the same, waits for it. */
export const locked = async (path: string, shown: string, world: World, talk: Talk): Promise<() => void> => {
  for (let waited = false; !world.interrupted.aborted; waited = true) {
    const release = tryLock(path);
    if (release) return release;
    if (!waited) talk.info(`another k8sbench builds ${shown}; waiting for it`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Failure(EXIT.interrupted, `interrupted while waiting for the build of ${shown}`);
};

const removeEntry = (git: Git, entry: string): void => {
  git.try('worktree', 'remove', '--force', '--force', join(entry, 'tree'));
  rmSync(entry, { recursive: true, force: true });
  git.try('worktree', 'prune');
};

/** The directory in which the commit's program stands built: checked out and built now, or kept from before. */
export const builtTree = async (plan: BuildPlan, world: World, talk: Talk): Promise<string> => {
  const { git, commit, shown, commands, prefix } = plan;
  const key = `${commit.slice(0, 12)}-${short(JSON.stringify([prefix, commands]), 8)}`;
  const builds = buildsDirectory(git, world.env);
  const entry = join(builds, key);
  const log = join(entry, 'build.log');
  const tree = join(entry, 'tree');
  const place = join(tree, prefix);
  mkdirSync(builds, { recursive: true });
  const release = await locked(`${entry}.lock`, shown, world, talk);
  try {
    if (existsSync(join(entry, BUILT)) && existsSync(tree)) {
      talk.info(`${shown} was built before: ${tree}`);
      return place;
    }
    // Nobody else builds what we hold the lock of: it was left by a k8sbench that was killed.
    const left = await endMarked(MARK, entry);
    if (left > 0) talk.warn(`ended ${left} process(es) of an earlier build of ${shown} that was killed`);
    removeEntry(git, entry);
    mkdirSync(entry, { recursive: true });
    talk.info(`checking out ${shown} in ${tree}`);
    git.run('worktree', 'add', '--quiet', '--force', '--detach', tree, commit);
    if (!existsSync(place))
      throw failed(`${shown} has no directory '${prefix}', where you stand; start at the top`);
    for (const words of commands) {
      const command = words.join(' ');
      talk.info(`building ${shown}: ${command}`);
      const began = performance.now();
      const how = await runIn(place, words, log, entry, world);
      if (world.interrupted.aborted)
        throw new Failure(EXIT.interrupted, `interrupted while building ${shown}; the next try begins again`);
      if (how !== 0) {
        const ended = typeof how === 'number' ? `ended with status ${how}` : `failed: ${how}`;
        throw failed(`building ${shown}: '${command}' ${ended}; all it printed is in ${log}${endOf(log)}`);
      }
      talk.info(`built ${shown} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    }
    writeAtomically(join(entry, BUILT), jsonText({ commit, prefix, commands }));
    return place;
  } finally {
    release();
  }
};

/** Kept builds by their paths: those that are gone now, and those that are left alone, with the reason. */
export interface Removed {
  gone: string[];
  busy: { path: string; why: string }[];
}

/** Takes a build alone; while a session measures from it, undefined. One that is not whole is nobody's. */
const tryAlone = (entry: string): (() => void) | undefined =>
  existsSync(join(entry, BUILT)) ? tryLock(join(entry, MEASURED)) : () => undefined;

/** Removes every kept build of this repository that nobody builds or measures from now. */
export const removeBuilds = (git: Git, env: World['env']): Removed => {
  const builds = buildsDirectory(git, env);
  const removed: Removed = { gone: [], busy: [] };
  if (!existsSync(builds)) return removed;
  const entries = readdirSync(builds, { withFileTypes: true }).filter((one) => one.isDirectory());
  for (const { name } of entries) {
    const path = join(builds, name);
    const release = tryLock(`${path}.lock`);
    if (release === undefined) {
      removed.busy.push({ path, why: 'is being built now' });
      continue;
    }
    let alone: (() => void) | undefined;
    try {
      alone = tryAlone(path);
      if (alone === undefined) {
        removed.busy.push({ path, why: 'is being measured from now' });
        continue;
      }
      removeEntry(git, path);
      // While it is held: whoever waits for it sees that it is another file now, and takes that one.
      rmSync(`${path}.lock`, { force: true });
      removed.gone.push(path);
    } finally {
      alone?.();
      release();
    }
  }
  if (removed.busy.length === 0) removeUnused(builds);
  return removed;
};

/** What is left of a directory of builds: locks of builds that never began. One that is held, or a build of this moment, keeps it. */
const removeUnused = (builds: string): void => {
  for (const name of readdirSync(builds).filter((one) => one.endsWith('.lock'))) {
    const path = join(builds, name);
    const release = tryLock(path);
    if (release === undefined) return;
    rmSync(path, { force: true });
    release();
  }
  try {
    rmdirSync(builds);
  } catch {
    // Somebody has begun a build in it.
  }
};

/** What a local session has on this machine besides its run directory, and how it goes away: also after its runner was killed. */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Job } from '../../schemas/job.ts';
import { cause, failed } from '../../shared/failure.ts';
import { endMarked, killMarked } from '../../shared/marked-processes.ts';
import type { World } from '../../shared/world.ts';
import { killMembers, removeLeaf } from './accounting-cgroup.ts';
import { isAlive, killTree } from './processes.ts';

export type Leftovers = NonNullable<Job['local']>;

/** The name that fixtures and cgroup of a run begin with; what is named otherwise is never removed. */
const prefixOf = (run: string): string => (run.startsWith('k8sbench-') ? `${run}-` : `k8sbench-${run}-`);

export const leafName = (run: string): string => `${prefixOf(run)}${process.pid}`;

/** Where the fixtures of a run go, a name of its own under TMPDIR: noted before it is made, so that a kill between leaves nothing unknown. */
export const dataPath = (run: string, world: World): string =>
  join(
    resolve(world.cwd, world.env['TMPDIR'] || tmpdir()),
    `${prefixOf(run)}${randomBytes(4).toString('hex')}`,
  );

/** Makes that directory, private (0700). */
export const makeData = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    throw failed(
      `can't make a directory for the fixtures in '${dirname(path)}': ${cause(error)}; set TMPDIR to a directory you can write`,
    );
  }
};

/** Not a link, and made by this user. */
export const isOwnDirectory = (path: string): boolean => {
  const about = lstatSync(path, { throwIfNoEntry: false });
  return about !== undefined && about.isDirectory() && about.uid === process.getuid?.();
};

/**
 * Only what a session of this run made: a job.json may have been copied, or written by somebody else, and names paths that
 * are about to be removed.
 */
export const ownedBy = (run: string, noted: Leftovers): Leftovers => {
  const named = (path: string | undefined): path is string =>
    path !== undefined && path.startsWith('/') && basename(path).startsWith(prefixOf(run));
  return {
    ...(noted.pod ? { pod: noted.pod } : {}),
    ...(named(noted.data) && isOwnDirectory(noted.data) ? { data: noted.data } : {}),
    ...(named(noted.cgroup) && isOwnDirectory(noted.cgroup) ? { cgroup: noted.cgroup } : {}),
  };
};

/** In the environment of all that a session starts; the value is the directory of its fixtures, which no other session has. */
export const MARK = 'K8SBENCH_SESSION';

/** Kills what is left of a session besides the pod program's own tree: by its cgroup, and by the mark, where there is no cgroup. */
export const killStray = ({ data, cgroup }: Leftovers): number =>
  (cgroup === undefined ? 0 : killMembers(cgroup)) + (data === undefined ? 0 : killMarked(MARK, data));

/** Kills the session's processes at once. */
export const killSession = (left: Leftovers): void => {
  if (left.pod) killTree(left.pod);
  killStray(left);
};

const PATIENCE_MS = 2000;

/** Removes what a session left, its processes first. Returns what could not be removed, in words. */
export const cleanUp = async (left: Leftovers): Promise<string[]> => {
  killSession(left);
  const problems: string[] = [];
  for (let waited = 0; left.pod && isAlive(left.pod); waited += 20) {
    if (waited > PATIENCE_MS) {
      problems.push(`process ${left.pod.pid} of the session can't be killed; the machine is not quiet`);
      break;
    }
    await Bun.sleep(20);
  }
  if (left.data !== undefined) await endMarked(MARK, left.data);
  for (let waited = 0; left.cgroup !== undefined && !removeLeaf(left.cgroup); waited += 20) {
    if (waited > PATIENCE_MS) {
      problems.push(
        `can't remove the cgroup '${left.cgroup}': processes are left in it; remove it with rmdir`,
      );
      break;
    }
    killMembers(left.cgroup);
    await Bun.sleep(20);
  }
  if (left.data !== undefined)
    try {
      await rm(left.data, { recursive: true, force: true });
    } catch (error) {
      problems.push(`can't remove the fixtures in '${left.data}': ${cause(error)}; remove them yourself`);
    }
  return problems;
};

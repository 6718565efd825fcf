/** Which commit is measured, and whether it is the one that was asked for (spec §1). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { commitFits, commitNamed, commitProblem } from '../../shared/commit-name.ts';
import { Failure } from '../../shared/failure.ts';
import { gitIn } from '../../shared/git.ts';
import { readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';

export interface FoundCommit {
  commit?: string;
  /** Where it was found, in words. */
  from: string;
  problems: string[];
}

/** The commit that a directory of artifacts names in its COMMIT file; undefined when it has none. */
export const commitOfArtifacts = (directory: string, shown: string): FoundCommit | undefined => {
  const path = join(directory, 'COMMIT');
  if (!existsSync(path)) return undefined;
  return commitIn(readText(path), `'${shown}/COMMIT'`);
};

/** A commit as artifacts name it; `from` says where. */
export const commitIn = (text: string, from: string): FoundCommit => {
  const commit = commitNamed(text);
  return commit === undefined
    ? { from, problems: [commitProblem(text, from)!] }
    : { commit, from, problems: [] };
};

/** HEAD of the repository around the current directory, `-dirty` when a file there is changed or new. */
const commitOfRepository = (world: World): string | undefined => {
  try {
    const git = gitIn(world.cwd, world.env);
    const head = git.try('rev-parse', '--verify', '--quiet', 'HEAD');
    if (head === undefined) return undefined;
    return git.try('status', '--porcelain') === '' ? head : `${head}-dirty`;
  } catch (error) {
    // A machine without git has no commit to tell; that is no reason not to measure.
    if (error instanceof Failure) return undefined;
    throw error;
  }
};

/** Local sessions: the artifacts' COMMIT, else the candidate's own commit, else the repository of the current directory. */
export const localCommit = (root: string, shown: string, profile: Profile, world: World): FoundCommit => {
  const listed = commitOfArtifacts(root, shown);
  if (listed) return listed;
  const candidate = profile.targets.find((one) => one.role === 'candidate' && one.commit);
  if (candidate?.commit)
    return { commit: candidate.commit, from: `target '${candidate.name}'`, problems: [] };
  const commit = commitOfRepository(world);
  return { ...(commit ? { commit } : {}), from: `the repository of '${world.cwd}'`, problems: [] };
};

/** What is wrong with the commit found, given what was asked for. */
export const commitProblems = (found: FoundCommit, wanted: string | undefined): string[] => {
  if (found.problems.length > 0 || wanted === undefined) return found.problems;
  if (found.commit === undefined)
    return [
      `flag '--commit': wanted ${wanted}, but ${found.from} names no commit; leave --commit out, or build from it`,
    ];
  return commitFits(wanted, found.commit)
    ? []
    : [
        `flag '--commit': wanted ${wanted}, but ${found.from} is at ${found.commit}; check out or build the one you want`,
      ];
};

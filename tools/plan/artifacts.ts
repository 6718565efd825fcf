/** What will be measured, as far as it can be looked at before the session: programs, their commit, the calibration. */
import { resolve } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { isDirectory } from '../../shared/file-kinds.ts';
import type { ReadProfile } from '../../shared/profiles/read.ts';
import { workloadsRoot } from '../../shared/workloads-place.ts';
import type { World } from '../../shared/world.ts';
import { commitOfArtifacts, type FoundCommit, localCommit } from './commit.ts';
import type { PlanFlags } from './flags.ts';
import type { Request } from './lay-down.ts';
import { machineOf } from './machine.ts';
import { pinProblems, programsOf, runtimeProblems, withRuntime } from './programs.ts';

export interface Artifacts {
  /** The profile as it is measured there. */
  profile: Profile;
  commit?: FoundCommit;
  /** What run.json records of them. */
  about: Pick<Request['about'], 'host' | 'root' | 'cwd' | 'programs' | 'arch' | 'bundleSha256'>;
  /** What was decided for the user, one sentence each. */
  said: string[];
  problems: string[];
}

/** On this machine: every program is found now, and a built-in workload gets a runtime that runs it. */
export const localArtifacts = (
  { profile, builtIn }: ReadProfile,
  bundle: string | undefined,
  flags: PlanFlags,
  world: World,
): Artifacts => {
  const root = bundle === undefined ? workloadsRoot(world.env) : resolve(world.cwd, bundle);
  const machine = machineOf(world);
  const runtime = builtIn ? withRuntime(profile, machine, root) : { profile };
  const measured = runtime.profile.targets.filter(
    (one) => flags.mode === 'compare' || one.role === 'reference',
  );
  const programs = programsOf(measured, { root, cwd: world.cwd }, machine);
  return {
    profile: runtime.profile,
    commit: localCommit(root, bundle ?? root, profile, world),
    about: { host: world.host, root, cwd: world.cwd, programs: programs.paths },
    said: runtime.said === undefined ? [] : [runtime.said],
    problems: [
      // Without its root everything in it is missing: one mistake, one problem.
      ...(isDirectory(root) ? programs.problems : [`bundle '${bundle}' is not a directory`]),
      ...(builtIn ? [] : runtimeProblems(profile, machine, root)),
      ...pinProblems(flags.pin!, machine),
    ],
  };
};

/** In a cluster: what the directory of a bundle says of itself, and its identity, once everything in it was checked. */
export const clusterArtifacts = async (
  { profile }: ReadProfile,
  bundle: string | undefined,
  flags: PlanFlags,
  world: World,
): Promise<Artifacts> => {
  const none: Artifacts = { profile, about: {}, said: [], problems: [] };
  if (bundle === undefined) return none;
  const directory = resolve(world.cwd, bundle);
  if (!isDirectory(directory))
    return { ...none, problems: [`bundle '${bundle}' is not a directory; 'k8sbench bundle' makes one`] };
  // Loaded for a bundle alone.
  const [{ readBundle, missingPrograms }, { archiveDigest }, { missingNeeds }] = await Promise.all([
    import('../../shared/bundle/contents.ts'),
    import('../../shared/bundle/archive.ts'),
    import('../../shared/bundle/needs.ts'),
  ]);
  const contents = await readBundle(directory, bundle);
  if (contents.problems.length > 0) return { ...none, problems: contents.problems };
  const measured = profile.targets.filter((one) => flags.mode === 'compare' || one.role === 'reference');
  const commit = commitOfArtifacts(directory, bundle);
  return {
    profile,
    ...(commit ? { commit } : {}),
    about: {
      root: directory,
      bundleSha256: await archiveDigest(contents),
      ...(contents.arch ? { arch: contents.arch } : {}),
    },
    said:
      contents.unlisted.length === 0
        ? []
        : [
            `${contents.unlisted.length} files of '${bundle}' are not listed in ARTIFACTS.sha256 and stay behind`,
          ],
    problems: [...missingPrograms(contents, measured), ...missingNeeds(contents, profile.needs ?? [])].map(
      (one) => `bundle '${bundle}': ${one}`,
    ),
  };
};

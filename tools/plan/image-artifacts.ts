/** Artifacts of an image that is named by its archive: what the bundle in it says of itself. */
import type { ImageArchive } from '../../shared/bundle/image-archive.ts';
import type { ReadProfile } from '../../shared/profiles/read.ts';
import type { Artifacts } from './artifacts.ts';
import { commitIn } from './commit.ts';
import type { PlanFlags } from './flags.ts';

/** In a cluster, of the archive of an image: what the bundle in it says of itself. */
export const imageArtifacts = async (
  { profile }: ReadProfile,
  { contents }: ImageArchive,
  flags: PlanFlags,
): Promise<Artifacts> => {
  const { missingPrograms } = await import('../../shared/bundle/contents.ts');
  const { missingNeeds } = await import('../../shared/bundle/needs.ts');
  const { directory: shown, arch, commit } = contents;
  const measured = profile.targets.filter((one) => flags.mode === 'compare' || one.role === 'reference');
  const problems = [...missingPrograms(contents, measured), ...missingNeeds(contents, profile.needs ?? [])];
  return {
    profile,
    ...(commit === undefined ? {} : { commit: commitIn(commit, `'${shown}'`) }),
    about: arch === undefined ? {} : { arch },
    said: [],
    problems: problems.map((one) => `image '${shown}': ${one}`),
  };
};

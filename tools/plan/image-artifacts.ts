/** An image that is named by the archive that `bundle image` wrote: its reference, and what the bundle in it says of itself. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ImageArchive } from '../../shared/bundle/image-archive.ts';
import type { Configuration } from '../../shared/configuration.ts';
import type { ReadProfile } from '../../shared/profiles/read.ts';
import type { World } from '../../shared/world.ts';
import type { Artifacts } from './artifacts.ts';
import { commitIn } from './commit.ts';
import type { PlanFlags } from './flags.ts';

/** What an image's archive is called on the command line: a file that is there, and no reference. */
const isImageArchive = (image: string | undefined, world: World): image is string =>
  image?.endsWith('.tar') === true && existsSync(resolve(world.cwd, image));

/** An image that is named by its archive gets its reference: what a Job takes. */
export const withReference = async (
  configuration: Configuration,
  world: World,
): Promise<{ configuration: Configuration; archive?: ImageArchive }> => {
  const { image } = configuration.values;
  if (!isImageArchive(image, world)) return { configuration };
  // Loaded for an archive alone.
  const { readImageArchive } = await import('../../shared/bundle/image-archive.ts');
  const archive = await readImageArchive(resolve(world.cwd, image), image);
  const values = { ...configuration.values, image: archive.reference };
  return { configuration: { ...configuration, values }, archive };
};

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

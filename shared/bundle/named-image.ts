/** An image that the command line names by the archive that `bundle image` wrote. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration } from '../configuration.ts';
import { Failure, usage } from '../failure.ts';
import type { World } from '../world.ts';
import type { ImageArchive } from './image-archive.ts';

/** What an image's archive is called on the command line. */
const ARCHIVE = /^[^@]*\.tar$/;

const readNamed = async (image: string, world: World): Promise<ImageArchive> => {
  const path = resolve(world.cwd, image);
  if (!existsSync(path))
    throw usage(
      `image archive '${image}' does not exist; 'k8sbench bundle image' makes one, and an image of a registry is named by its digest`,
    );
  // Loaded for an archive alone.
  const { readImageArchive } = await import('./image-archive.ts');
  return readImageArchive(path, image);
};

/** An image that is named by its archive gets its reference: what a Job takes. One that can't be read is one of the problems. */
export const withReference = async (
  configuration: Configuration,
  world: World,
): Promise<{ configuration: Configuration; archive?: ImageArchive }> => {
  const { image, ...others } = configuration.values;
  if (image === undefined || !ARCHIVE.test(image)) return { configuration };
  try {
    const archive = await readNamed(image, world);
    const values = { ...others, image: archive.reference };
    return { configuration: { ...configuration, values }, archive };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const problems = [...configuration.problems, ...error.problems];
    return { configuration: { ...configuration, values: others, problems } };
  }
};

/** Images of tasks, from tag to digest, as their registries say now; and who and where their programs run. */
import type { LockedTask } from '../../../schemas/tasks-lock.ts';
import { failed, Failure } from '../../../shared/failure.ts';
import { imageConfig } from '../../../shared/registry/image-config.ts';
import { architecturesOf, forPlatform, INDEXES, type Manifest } from '../../../shared/registry/manifest.ts';
import type { Registry } from '../../../shared/registry/client.ts';
import { formatReference, type ImageReference, parseReference } from '../../../shared/registry/reference.ts';

export type ImageFacts = Pick<LockedTask, 'image' | 'tag' | 'platforms' | 'user' | 'workdir'>;

const ARCHES = ['amd64', 'arm64'] as const;
/** Which of our architectures an index has something for. */
const platformsOf = (index: Manifest): LockedTask['platforms'] => {
  const all = architecturesOf(index);
  return ARCHES.filter((arch) => all.includes(arch));
};

/** One image. The digest is that of what the tag stands for: an index stays one, and each node pulls what fits it. */
const resolveImage = async (registry: Registry, tag: string): Promise<ImageFacts> => {
  const reference = parseReference(tag);
  const shown = formatReference(reference);
  const found = await registry.manifest(reference);
  const at = (digest: string): ImageReference => ({
    registry: reference.registry,
    repository: reference.repository,
    digest,
  });
  const isIndex = INDEXES.includes(found.mediaType);
  const platforms = isIndex ? platformsOf(found) : [];
  if (isIndex && platforms.length === 0)
    throw failed(`image '${shown}' has nothing for linux/amd64 or linux/arm64`);
  const own = isIndex ? forPlatform(found, platforms[0]!, shown) : undefined;
  const manifest = own ? await registry.manifest(at(own.digest)) : found;
  const config = await imageConfig(registry, at(manifest.digest), manifest, shown);
  const arch = ARCHES.find((one) => one === config.architecture);
  if (!isIndex && (arch === undefined || (config.os ?? 'linux') !== 'linux'))
    throw failed(`image '${shown}' is for ${config.os}/${config.architecture}`);
  return {
    image: formatReference(at(found.digest)),
    tag,
    platforms: isIndex ? platforms : [arch!],
    user: config.config?.User ?? '',
    workdir: config.config?.WorkingDir || '/',
  };
};

/** So many are asked for at once. */
const AT_ONCE = 4;

/** All images, each asked for once; every one that can't be had is told. */
export const resolveImages = async (
  registry: Registry,
  tags: readonly string[],
  progress: (done: number, all: number) => void,
): Promise<ReadonlyMap<string, ImageFacts>> => {
  const all = [...new Set(tags)];
  const found = new Map<string, ImageFacts>();
  const problems: string[] = [];
  const queue = [...all];
  const work = async (): Promise<void> => {
    for (let tag = queue.shift(); tag !== undefined; tag = queue.shift()) {
      try {
        found.set(tag, await resolveImage(registry, tag));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        problems.push(...error.problems);
      }
      progress(found.size + problems.length, all.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (problems.length > 0) throw failed(problems.toSorted());
  return found;
};

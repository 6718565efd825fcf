/** release: named files out of an archive that is pinned by size and SHA-256 for each architecture. */
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PinnedArchive } from '../../../schemas/recipe.ts';
import { archiveFile, archiveName } from '../download.ts';
import { readElf } from '../elf.ts';
import { type Asked, type BuildPlace, type Kind, nothing } from '../kind.ts';
import { takeMembers } from '../members.ts';

/** Members of a pinned archive as files of the bundle; programs can be started, other files not. */
export const unpack = async (
  pinned: PinnedArchive,
  keep: Readonly<Record<string, string>>,
  asked: Asked,
  { out, say }: BuildPlace,
): Promise<void> => {
  const archive = await archiveFile(pinned, asked, say);
  const wanted = new Map(Object.entries(keep).map(([member, path]) => [member, join(out, path)]));
  for (const path of wanted.values()) mkdirSync(dirname(path), { recursive: true });
  await takeMembers(archive, archiveName(pinned.url), pinned.size, wanted);
  for (const path of wanted.values()) chmodSync(path, readElf(path) ? 0o755 : 0o644);
};

/** The archive of the bundle's architecture, as pins; a problem when there is none. */
export const pinsOf = (
  archives: { amd64?: PinnedArchive | undefined; arm64?: PinnedArchive | undefined },
  { arch }: Asked,
): { pinned?: PinnedArchive; pins: Record<string, string>; problems: string[] } => {
  const pinned = archives[arch];
  return pinned
    ? { pinned, pins: { [archiveName(pinned.url)]: pinned.sha256 }, problems: [] }
    : { pins: {}, problems: [`the recipe pins no archive for ${arch}`] };
};

export const release: Kind<'release'> = {
  name: ({ name }) => `release ${name}`,
  async prepare({ archives, version, name }, asked) {
    const { pins, problems } = pinsOf(archives, asked);
    return { ...nothing(), pins, problems, version, versions: { [name]: version } };
  },
  build: ({ archives, keep }, asked, place) => unpack(archives[asked.arch]!, keep, asked, place),
};

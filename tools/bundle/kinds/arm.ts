/** arm: an agent that arms.lock pins, below arms/<id>: npm packages of a lockfile, or the one executable of a release. */
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Arm, armsLock, type NpmArm } from '../../../schemas/arms-lock.ts';
import type { ArtifactOf } from '../../../schemas/recipe.ts';
import { failed, usage } from '../../../shared/failure.ts';
import { sha256, sha256File } from '../../../shared/files.ts';
import { readJson, readText } from '../../../shared/read.ts';
import { buildEnv } from '../command.ts';
import { readElf } from '../elf.ts';
import { type Asked, type Kind, nothing, type Prepared } from '../kind.ts';
import { lockedPackage, npmLockProblems } from '../npm-lock.ts';
import { answerOf } from '../answer.ts';
import { install } from './npm.ts';
import { pinsOf, unpack } from './release.ts';

const HOSTS = ['registry.npmjs.org'];

const armOf = ({ id, lock }: ArtifactOf<'arm'>, { source }: Asked): Arm => {
  const { arms } = readJson(join(source.top, lock), armsLock, lock, usage);
  if (!Object.hasOwn(arms, id))
    throw usage(`'${lock}' has no arm '${id}'; it has ${Object.keys(arms).join(', ') || 'none'}`);
  return arms[id]!;
};

/** What of a lockfile doesn't agree with arms.lock. */
const disagreements = (arm: NpmArm, text: string, path: string): string[] => {
  if (sha256(text) !== arm.lockfile.sha256)
    return [`'${path}' has the digest ${sha256(text)}, arms.lock pins ${arm.lockfile.sha256}`];
  const found = lockedPackage(text, arm.package);
  if (!found) return [`'${path}' does not lock '${arm.package}'`];
  return [
    ...(found.version === arm.version
      ? []
      : [`'${path}' locks ${arm.package} ${found.version}, arms.lock ${arm.version}`]),
    ...(found.integrity === arm.integrity
      ? []
      : [`'${path}' gives ${arm.package} another integrity than arms.lock`]),
  ];
};

const prepareNpm = async (arm: NpmArm, lock: string, { source, world }: Asked): Promise<Prepared> => {
  const directory = join(dirname(lock), arm.lockfile.in);
  const wanted = ['package.json', 'package-lock.json'].map((name) => join(directory, name));
  const files = source.below([directory]).filter((one) => wanted.includes(one.path));
  const found = await answerOf(['npm', '--version'], buildEnv(world), source.top, world.interrupted);
  const problems = wanted
    .filter((path) => !files.some((one) => one.path === path))
    .map((path) => `'${path}' is not a file of the source tree`);
  if (found === undefined) problems.push("'npm' is not on the PATH; install Node from https://nodejs.org");
  const path = wanted[1]!;
  if (!existsSync(join(source.top, path))) return { ...nothing(), problems };
  const text = readText(join(source.top, path), path);
  problems.push(...disagreements(arm, text, path), ...npmLockProblems(text, path, HOSTS));
  return { ...nothing(), files, toolchains: { npm: found ?? '' }, pins: { [path]: sha256(text) }, problems };
};

export const arm: Kind<'arm'> = {
  name: ({ id }) => `arm ${id}`,
  async prepare(artifact, asked) {
    const one = armOf(artifact, asked);
    const prepared: Prepared =
      one.source === 'npm'
        ? await prepareNpm(one, artifact.lock, asked)
        : { ...nothing(), ...pinsOf(one.archives, asked) };
    const executable = one.executables[asked.arch];
    if (!executable) prepared.problems.push(`'${artifact.lock}' pins no executable of it for ${asked.arch}`);
    return {
      ...prepared,
      // The arm's pins stand in arms.lock, not in the recipe: they are part of what determines it.
      pins: { ...prepared.pins, [`${artifact.lock}#${artifact.id}`]: sha256(JSON.stringify(one)) },
      version: one.version,
      versions: { [`arm-${artifact.id}`]: one.version },
    };
  },
  async build(artifact, asked, place) {
    const one = armOf(artifact, asked);
    const pinned = one.executables[asked.arch]!;
    const home = `arms/${artifact.id}`;
    const path = join(place.out, home, pinned.path);
    if (one.source === 'npm') {
      const cwd = join(place.sources, dirname(artifact.lock), one.lockfile.in);
      await install(cwd, asked.arch, asked.world);
      mkdirSync(dirname(join(place.out, home)), { recursive: true });
      renameSync(cwd, join(place.out, home));
    } else await unpack(one.archives[asked.arch]!, { [pinned.path]: `${home}/${pinned.path}` }, asked, place);
    if (!existsSync(path)) throw failed(`it has no '${pinned.path}' once it is installed`);
    const [size, digest] = [statSync(path).size, await sha256File(path)];
    if (digest !== pinned.sha256 || size !== (pinned.size ?? size))
      throw failed(
        `'${pinned.path}' has ${size} bytes and SHA-256 ${digest}, arms.lock pins ${pinned.size ?? 'any number of'} and ${pinned.sha256}`,
      );
    const elf = readElf(path);
    if (one.source === 'release' && elf?.arch !== asked.arch)
      throw failed(`'${pinned.path}' is not a Linux executable for ${asked.arch}`);
  },
};

/** Locks one agent in a place of its own: fetched for each machine, its digests taken. */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arm, NpmArm, ReleaseArm } from '../../schemas/arms-lock.ts';
import { failed } from '../../shared/failure.ts';
import { sha256, sha256File } from '../../shared/files.ts';
import { jsonText, readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';
import { buildEnv, runBuild } from './command.ts';
import { archiveName, fetchArchive } from './download.ts';
import { readElf } from './elf.ts';
import { install } from './kinds/npm.ts';
import { ARCHES, type Wish } from './lock-wish.ts';
import { takeMembers } from './members.ts';
import { lockedPackage, npmLockProblems } from './npm-lock.ts';

export interface LockPlace {
  scratch: string;
  world: World;
  /** Directory with copies of archives. */
  archives?: string;
  say(text: string): void;
}

const pinnedFile = async (full: string, path: string) => ({
  path,
  sha256: await sha256File(full),
  size: statSync(full).size,
});

const lockNpm = async (
  wish: Extract<Wish, { source: 'npm' }>,
  { scratch, world }: LockPlace,
): Promise<NpmArm> => {
  const how = { cwd: scratch, env: buildEnv(world), interrupted: world.interrupted };
  writeFileSync(join(scratch, 'package.json'), jsonText({ dependencies: { [wish.package]: wish.version } }));
  await runBuild(
    [
      'npm',
      'install',
      '--package-lock-only',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    how,
  );
  const text = readText(join(scratch, 'package-lock.json'), 'package-lock.json');
  const problems = npmLockProblems(text, `${wish.id}/package-lock.json`, ['registry.npmjs.org']);
  if (problems.length > 0) throw failed(problems);
  const found = lockedPackage(text, wish.package);
  const executables: NpmArm['executables'] = {};
  for (const arch of ARCHES) {
    const path = wish.executable(arch);
    if (path === '') continue;
    await install(scratch, arch, world);
    const full = join(scratch, path);
    if (!existsSync(full))
      throw failed(`arm '${wish.id}': '${path}' is not there once it is installed for ${arch}`);
    executables[arch] = await pinnedFile(full, path);
    rmSync(join(scratch, 'node_modules'), { recursive: true });
  }
  return {
    source: 'npm',
    package: wish.package,
    version: String(found?.version),
    integrity: String(found?.integrity),
    lockfile: { in: wish.id, sha256: sha256(text) },
    executables,
  };
};

const lockRelease = async (
  wish: Extract<Wish, { source: 'release' }>,
  place: LockPlace,
): Promise<ReleaseArm> => {
  const arm: ReleaseArm = { source: 'release', version: wish.version, archives: {}, executables: {} };
  for (const arch of ARCHES) {
    const [url, path] = [wish.url(arch), wish.executable(arch)];
    if (url === '' || path === '') continue;
    const archive = join(place.scratch, `${arch}-archive`);
    const from = await fetchArchive(url, archive, place);
    if (from === undefined) {
      place.say(`arm '${wish.id}': '${url}' is not there; it is locked without ${arch}`);
      continue;
    }
    const full = join(place.scratch, `${arch}-executable`);
    await takeMembers(from, archiveName(url), statSync(from).size, new Map([[path, full]]));
    if (readElf(full)?.arch !== arch)
      throw failed(`arm '${wish.id}': '${path}' of '${url}' is not a Linux executable for ${arch}`);
    const { sha256: digest, size } = await pinnedFile(from, url);
    arm.archives[arch] = { url, size, sha256: digest };
    arm.executables[arch] = await pinnedFile(full, path);
  }
  if (Object.keys(arm.archives).length === 0)
    throw failed(`arm '${wish.id}': there is no archive of it, neither for ${ARCHES.join(' nor for ')}`);
  return arm;
};

/** An entry of arms.lock; for npm, package.json and package-lock.json stand in the scratch directory afterwards. */
export const lockArm = async (wish: Wish, place: LockPlace): Promise<Arm> => {
  mkdirSync(place.scratch, { recursive: true });
  return wish.source === 'npm' ? lockNpm(wish, place) : lockRelease(wish, place);
};

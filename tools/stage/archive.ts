/** A trial bundle, checked and packed. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { compressed } from '../../shared/bundle/compressed.ts';
import { changedProblem, type Contents, readBundle } from '../../shared/bundle/contents.ts';
import { failed, usage } from '../../shared/failure.ts';
import { streamAtomically } from '../../shared/files.ts';
import { PROGRAM } from '../../shared/task-run/names.ts';
import type { World } from '../../shared/world.ts';
import type { Archive } from './job.ts';

/** What a bundle needs to be one for trials. */
const trialProblems = ({ files }: Contents, shown: string): string[] => {
  const has = (fits: (path: string) => boolean): boolean => files.some((one) => fits(one.path));
  const missing = [
    ...(has((path) => path === 'bin/node')
      ? []
      : ["Node ('bin/node'): the recipe needs an artifact of kind node"]),
    ...(has((path) => path === PROGRAM) ? [] : [`'${PROGRAM}': build it with 'bundle build --tasks'`]),
    ...(has((path) => path.startsWith('arms/'))
      ? []
      : ['an agent: the recipe needs an artifact of kind arm']),
    ...(has((path) => path.startsWith('tasks/')) ? [] : ["tasks: build it with 'bundle build --tasks'"]),
  ];
  return missing.map((one) => `bundle '${shown}' lacks ${one}`);
};

/** Writes the archive beside the bundle, or where `out` says. */
export const packBundle = async (world: World, shown: string, out: string | undefined): Promise<Archive> => {
  const directory = resolve(world.cwd, shown);
  if (!existsSync(directory) || !statSync(directory).isDirectory())
    throw usage(`bundle '${shown}' is no directory; 'k8sbench bundle build --tasks' makes one`);
  const path = out ?? `${shown.replace(/\/+$/, '')}.tar.gz`;
  const file = resolve(world.cwd, path);
  if (`${file}/`.startsWith(`${directory}/`))
    throw usage(`flag '--out': '${path}' lies in the bundle itself; name another place`);
  const contents = await readBundle(directory, shown, { digests: false });
  const strays = contents.unlisted.map(
    (one) => `bundle '${shown}': '${one}' is not listed in ARTIFACTS.sha256`,
  );
  const problems = [...contents.problems, ...strays.slice(0, 10), ...trialProblems(contents, shown)];
  if (problems.length > 0) throw failed(problems);
  let unpacked = 0;
  const { parts, identity } = compressed(contents, {
    count: (bytes) => void (unpacked += bytes),
    // Nothing is written when a file isn't as it is listed.
    atEnd(changed) {
      if (changed.length > 0) throw failed(changed.map((one) => `bundle '${shown}': ${changedProblem(one)}`));
    },
  });
  await streamAtomically(file, parts);
  return { sha256: identity(), path, size_bytes: statSync(file).size, unpacked_bytes: unpacked };
};

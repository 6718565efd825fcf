/** npm: the packages of a lockfile, for the pod's system, none of their scripts run. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Arch } from '../../../schemas/recipe.ts';
import { failed } from '../../../shared/failure.ts';
import { sha256 } from '../../../shared/files.ts';
import { readText } from '../../../shared/read.ts';
import type { World } from '../../../shared/world.ts';
import { buildEnv, runBuild } from '../command.ts';
import { contentDigest } from '../content-digest.ts';
import { type Kind, nothing } from '../kind.ts';
import { npmLockProblems } from '../npm-lock.ts';
import { answerOf } from '../answer.ts';

const CPUS = { amd64: 'x64', arm64: 'arm64' } as const;
const WANTED = ['package.json', 'package-lock.json'];

/** Installs a lockfile's packages for the pod's system into `cwd`, and runs none of their scripts. */
export const install = async (cwd: string, arch: Arch, world: World): Promise<void> => {
  await runBuild(
    [
      'npm',
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--install-strategy=hoisted',
      '--os=linux',
      `--cpu=${CPUS[arch]}`,
      '--libc=glibc',
      '--include=optional',
      '--omit=dev',
      // What a user's own .npmrc may say otherwise.
      '--bin-links',
      '--no-legacy-peer-deps',
      '--no-install-links',
      '--no-dry-run',
      '--no-global',
    ],
    { cwd, env: buildEnv(world), interrupted: world.interrupted },
  );
  // npm's own note of what it did; nobody reads it in the pod.
  rmSync(join(cwd, 'node_modules/.package-lock.json'), { force: true });
};

export const npm: Kind<'npm'> = {
  name: ({ to }) => `npm ${to}`,
  async prepare({ in: directory, hosts, content }, { source, world }) {
    const files = source
      .below([directory])
      .filter((one) => WANTED.some((name) => one.path === join(directory, name)));
    const found = await answerOf(['npm', '--version'], buildEnv(world), source.top, world.interrupted);
    const problems =
      found === undefined ? ["'npm' is not on the PATH; install Node from https://nodejs.org"] : [];
    const missing = WANTED.filter((name) => !files.some((one) => one.path === join(directory, name)));
    problems.push(...missing.map((name) => `'${join(directory, name)}' is not a file of the source tree`));
    const pins: Record<string, string> = {};
    if (missing.length === 0) {
      const path = join(directory, 'package-lock.json');
      const text = readText(join(source.top, path), path);
      pins[path] = sha256(text);
      problems.push(...npmLockProblems(text, path, hosts, Object.keys(content)));
    }
    return { ...nothing(), files, pins, toolchains: { npm: found ?? '' }, problems };
  },
  async build({ in: directory, to, content }, { arch, world }, { sources, out }) {
    const cwd = join(sources, directory);
    await install(cwd, arch, world);
    const modules = join(cwd, 'node_modules');
    mkdirSync(modules, { recursive: true });
    const wrong: string[] = [];
    for (const [path, digest] of Object.entries(content)) {
      const is = existsSync(join(modules, path)) ? await contentDigest(join(modules, path)) : undefined;
      if (is !== digest)
        wrong.push(
          `'${path}' of '${directory}' has ${is === undefined ? 'nothing installed' : `the content digest ${is}`}, the recipe pins ${digest}`,
        );
    }
    if (wrong.length > 0) throw failed(wrong);
    mkdirSync(dirname(join(out, to)), { recursive: true });
    // The copy of the sources is this build's own: hundreds of megabytes need not be copied once more.
    renameSync(cwd, join(out, to));
  },
};

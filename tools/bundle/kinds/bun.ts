/** bun: a JavaScript or TypeScript program compiled into one file with Bun, for the bundle's architecture. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256File } from '../../../shared/files.ts';
import { buildEnv, runBuild } from '../command.ts';
import { type Kind, nothing } from '../kind.ts';
import { answerOf } from '../source.ts';

const TARGETS = { amd64: 'bun-linux-x64', arm64: 'bun-linux-arm64' } as const;
const LOCK = 'bun.lock';

export const bun: Kind<'bun'> = {
  name: ({ name }) => `bun bin/${name}`,
  async prepare({ in: directory, with: more, entry }, { source, world }) {
    const files = source.below([directory, ...more]);
    const found = await answerOf(['bun', '--version'], buildEnv(world), source.top);
    const lock = join(directory, LOCK);
    const problems = found === undefined ? ["'bun' is not on the PATH; install it from https://bun.sh"] : [];
    if (!files.some((one) => one.path === join(directory, entry)))
      problems.push(`'${join(directory, entry)}' is not a file of the source tree`);
    return {
      ...nothing(),
      files,
      toolchains: { bun: found ?? '' },
      pins: files.some((one) => one.path === lock)
        ? { [lock]: await sha256File(join(source.top, lock)) }
        : {},
      problems,
    };
  },
  async build({ name, in: directory, entry }, { arch, world }, { sources, out }) {
    const how = { cwd: join(sources, directory), env: buildEnv(world), interrupted: world.interrupted };
    if (existsSync(join(how.cwd, LOCK)))
      await runBuild(['bun', 'install', '--frozen-lockfile', '--ignore-scripts'], how);
    mkdirSync(join(out, 'bin'), { recursive: true });
    await runBuild(
      [
        'bun',
        'build',
        `./${entry}`,
        '--compile',
        `--target=${TARGETS[arch]}`,
        // A program under measurement reads no settings of the place where it is started.
        '--no-compile-autoload-dotenv',
        '--no-compile-autoload-bunfig',
        '--outfile',
        join(out, 'bin', name),
      ],
      how,
    );
  },
};

/** bun: a JavaScript or TypeScript program compiled into one file with Bun, for the bundle's architecture. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sha256 } from '../../../shared/files.ts';
import { parseJson, readText } from '../../../shared/read.ts';
import { usage } from '../../../shared/failure.ts';
import { buildEnv, runBuild } from '../command.ts';
import { type Kind, nothing } from '../kind.ts';
import { refuseOutsiders } from '../made-of.ts';
import { answerOf } from '../answer.ts';
import { bunLockProblems } from '../text-locks.ts';

const TARGETS = { amd64: 'bun-linux-x64', arm64: 'bun-linux-arm64' } as const;
const LOCK = 'bun.lock';

/** Why packages that a package.json wants could not be installed as they are pinned; nothing when it wants none. */
const unlockedProblems = (text: string, path: string): string[] => {
  const value = parseJson(text, path, usage) as Record<string, object | undefined> | null;
  const wanted = ['dependencies', 'optionalDependencies', 'peerDependencies'].filter(
    (group) => Object.keys(value?.[group] ?? {}).length > 0,
  );
  return wanted.length === 0
    ? []
    : [
        `'${path}' has ${wanted.join(', ')} and no ${LOCK} beside it; 'bun install --save-text-lockfile' writes one`,
      ];
};

/** What Bun looks for upwards, so that it finds nothing of the machine's above the sources. */
const shield = (sources: string): void => {
  for (const name of ['package.json', 'tsconfig.json']) writeFileSync(join(dirname(sources), name), '{}\n');
};

/** Files of the program, as the bundler tells them. */
const inputsIn = (metafile: string, cwd: string): string[] =>
  Object.keys((JSON.parse(readText(metafile)) as { inputs: object }).inputs)
    .filter((one) => !/^[a-z]+:/.test(one))
    .map((one) => resolve(cwd, one));

export const bun: Kind<'bun'> = {
  name: ({ name }) => `bun bin/${name}`,
  async prepare({ in: directory, with: more, entry }, { source, world }) {
    const files = source.below([directory, ...more]);
    const found = await answerOf(['bun', '--version'], buildEnv(world), source.top, world.interrupted);
    const textOf = (name: string): { path: string; text: string } | undefined => {
      const path = join(directory, name);
      return files.some((one) => one.path === path)
        ? { path, text: readText(join(source.top, path), path) }
        : undefined;
    };
    const [lock, wishes] = [textOf(LOCK), textOf('package.json')];
    const problems = found === undefined ? ["'bun' is not on the PATH; install it from https://bun.sh"] : [];
    if (!files.some((one) => one.path === join(directory, entry)))
      problems.push(`'${join(directory, entry)}' is not a file of the source tree`);
    if (lock) problems.push(...bunLockProblems(lock.text, lock.path));
    else if (wishes) problems.push(...unlockedProblems(wishes.text, wishes.path));
    return {
      ...nothing(),
      files,
      toolchains: { bun: found ?? '' },
      pins: lock ? { [lock.path]: sha256(lock.text) } : {},
      problems,
    };
  },
  async build({ name, in: directory, entry }, { arch, world }, { sources, out, scratch }) {
    const how = { cwd: join(sources, directory), env: buildEnv(world), interrupted: world.interrupted };
    shield(sources);
    if (existsSync(join(how.cwd, LOCK)))
      await runBuild(['bun', 'install', '--frozen-lockfile', '--ignore-scripts'], how);
    mkdirSync(join(out, 'bin'), { recursive: true });
    const metafile = join(scratch, 'metafile.json');
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
        `--metafile=${metafile}`,
        '--outfile',
        join(out, 'bin', name),
      ],
      how,
    );
    refuseOutsiders(inputsIn(metafile, how.cwd), [sources]);
  },
};

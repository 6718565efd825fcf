/** tinygo: a Go program as a WebAssembly module, with the TinyGo of `--tinygo`, `$TINYGO` or the PATH. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildEnv, runBuild } from '../command.ts';
import { type Asked, type Kind, nothing } from '../kind.ts';
import { answerOf } from '../source.ts';
import { goOf } from './go.ts';

/** Of TinyGo's own environment nothing that says how to build; the module is the same for every machine. */
const env = ({ world }: Asked): Record<string, string | undefined> =>
  buildEnv(world, { GOFLAGS: '', GOEXPERIMENT: '', GOTOOLCHAIN: 'local' });

const programOf = ({ tinygo: given, world }: Asked): string => given ?? (world.env['TINYGO'] || 'tinygo');

export const tinygo: Kind<'tinygo'> = {
  name: ({ name }) => `tinygo dist/${name}.wasm`,
  async prepare({ in: directory, with: more }, asked) {
    const program = programOf(asked);
    const [said, found] = await Promise.all([
      answerOf([program, 'version'], env(asked), asked.source.top),
      goOf(directory, asked),
    ]);
    const version = /^tinygo version (\S+)/.exec(said ?? '')?.[1];
    const problems = [...found.problems];
    if (version === undefined)
      problems.push(
        program === 'tinygo'
          ? "'tinygo' is not on the PATH; name one with --tinygo or $TINYGO, or install it from https://tinygo.org"
          : `'${program}' is no TinyGo: '${program} version' ${said === undefined ? 'fails' : 'says otherwise'}`,
      );
    return {
      ...nothing(),
      files: asked.source.below([directory, ...more]),
      toolchains: { go: found.version, tinygo: version ?? '' },
      problems,
    };
  },
  async build({ name, in: directory, package: main, target, flags }, asked, { sources, out }) {
    mkdirSync(join(out, 'dist'), { recursive: true });
    await runBuild(
      [
        programOf(asked),
        'build',
        `-target=${target}`,
        // Debug information names the place it was built at.
        '-no-debug',
        ...flags,
        '-o',
        join(out, 'dist', `${name}.wasm`),
        main,
      ],
      { cwd: join(sources, directory), env: env(asked), interrupted: asked.world.interrupted },
    );
  },
};

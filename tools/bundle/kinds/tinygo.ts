/** tinygo: a Go program as a WebAssembly module, with the TinyGo of `--tinygo`, `$TINYGO` or the PATH. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildEnv, runBuild } from '../command.ts';
import { type Asked, type Kind, nothing } from '../kind.ts';
import { answerOf } from '../answer.ts';
import { goOf, goPlace, refuseOtherPackages } from './go.ts';

const programOf = ({ tinygo: given, world }: Asked): string => given ?? (world.env['TINYGO'] || 'tinygo');

export const tinygo: Kind<'tinygo'> = {
  name: ({ name }) => `tinygo dist/${name}.wasm`,
  async prepare({ in: directory, with: more }, asked) {
    const program = programOf(asked);
    const [said, found] = await Promise.all([
      answerOf([program, 'version'], buildEnv(asked.world), asked.source.top, asked.world.interrupted),
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
    const place = await goPlace(directory, sources, asked, {});
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
      { ...place, interrupted: asked.world.interrupted },
    );
    const [system, machine] = target.startsWith('wasi') ? ['wasip1', 'wasm'] : ['js', 'wasm'];
    await refuseOtherPackages(
      { ...place, env: { ...place.env, GOOS: system, GOARCH: machine } },
      main,
      sources,
      asked.world,
    );
  },
};

/** go: a static program, cross-compiled, with the release that `.go-version` names. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readText } from '../../../shared/read.ts';
import { buildEnv, runBuild } from '../command.ts';
import { type Asked, type Kind, nothing } from '../kind.ts';
import { answerOf } from '../source.ts';

const env = ({ world, arch }: Asked): Record<string, string | undefined> =>
  buildEnv(world, {
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: arch,
    GOAMD64: 'v1',
    GOARM64: 'v8.0',
    GOEXPERIMENT: '',
    GOFLAGS: '',
    // What is here builds: a release fetched behind the user's back would not be the one that was looked up.
    GOTOOLCHAIN: 'local',
  });

/** The release that the tree asks for, of the nearest `.go-version` from `directory` upwards. */
const wanted = (top: string, directory: string): string | undefined => {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(top, at, '.go-version');
    if (existsSync(path)) return `go${readText(path).trim().replace(/^go/, '')}`;
    if (at === '.' || at === '/') return undefined;
  }
};

/** The Go that is here, and what keeps it from being the one that the tree below `directory` asks for. */
export const goOf = async (
  directory: string,
  asked: Asked,
): Promise<{ version: string; problems: string[] }> => {
  const { top } = asked.source;
  const found = await answerOf(['go', 'env', 'GOVERSION'], env(asked), top);
  const release = wanted(top, directory);
  if (found === undefined)
    return { version: '', problems: ["'go' is not on the PATH; install it from https://go.dev/dl"] };
  return {
    version: found,
    problems:
      release === undefined || release === found
        ? []
        : [`'.go-version' asks for ${release}, 'go' is ${found}; put that release first on the PATH`],
  };
};

export const go: Kind<'go'> = {
  name: ({ name }) => `go bin/${name}`,
  async prepare({ in: directory, with: more }, asked) {
    const { version, problems } = await goOf(directory, asked);
    return {
      ...nothing(),
      files: asked.source.below([directory, ...more]),
      toolchains: { go: version },
      problems,
    };
  },
  async build({ name, in: directory, package: main }, asked, { sources, out }) {
    mkdirSync(join(out, 'bin'), { recursive: true });
    await runBuild(
      [
        'go',
        'build',
        '-mod=readonly',
        '-trimpath',
        '-buildvcs=false',
        '-ldflags=-buildid=',
        '-o',
        join(out, 'bin', name),
        main,
      ],
      { cwd: join(sources, directory), env: env(asked), interrupted: asked.world.interrupted },
    );
  },
};

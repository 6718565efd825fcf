/** go: a static program, cross-compiled, with the release that `.go-version` names. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failed } from '../../../shared/failure.ts';
import { readText } from '../../../shared/read.ts';
import type { World } from '../../../shared/world.ts';
import { buildEnv, runBuild } from '../command.ts';
import { type Asked, type Kind, nothing } from '../kind.ts';
import { refuseOutsiders } from '../made-of.ts';
import { answerOf } from '../answer.ts';

type Env = Record<string, string | undefined>;

/** What is here builds: a release fetched behind the user's back would not be the one that was looked up. */
const HERE = { GOTOOLCHAIN: 'local' };

/** Of the user's own settings (`go env -w`) those that say how modules are reached, and where they are. */
const REACHING = [
  'GOAUTH',
  'GOCACHE',
  'GOINSECURE',
  'GOMODCACHE',
  'GONOPROXY',
  'GONOSUMDB',
  'GOPRIVATE',
  'GOPROXY',
  'GOSUMDB',
  'GOVCS',
];

/** Go's version and those settings; undefined when there is no Go. */
const aboutGo = async (world: World, top: string): Promise<Record<string, string> | undefined> => {
  const said = await answerOf(
    ['go', 'env', '-json', 'GOVERSION', ...REACHING],
    buildEnv(world, HERE),
    top,
    world.interrupted,
  );
  return said === undefined ? undefined : (JSON.parse(said) as Record<string, string>);
};

/** The environment of Go: settings of the user that say how to build (GOFLAGS, GOAMD64, …) have no part in it. */
const goEnv = async ({ world, source }: Asked): Promise<Env> => {
  const about = (await aboutGo(world, source.top)) ?? {};
  const reaching = Object.fromEntries(
    REACHING.map((name) => [name, about[name] ?? '']).filter(([, value]) => value !== ''),
  );
  return buildEnv(world, {
    ...reaching,
    ...HERE,
    GOENV: 'off',
    GOFLAGS: '',
    GOEXPERIMENT: '',
    CGO_ENABLED: '0',
  });
};

/** The workspace of the tree, not one that stands above the place where it is built. */
const workspaceOf = (sources: string, directory: string): string => {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(sources, at, 'go.work'))) return join(sources, at, 'go.work');
    if (at === '.' || at === '/') return 'off';
  }
};

/** A place where sources of Go are built, and with what. */
export interface GoPlace {
  cwd: string;
  env: Env;
}

export const goPlace = async (
  directory: string,
  sources: string,
  asked: Asked,
  more: Env,
): Promise<GoPlace> => {
  const { source, world } = asked;
  const cwd = join(sources, directory);
  const [here, looked] = [await aboutGo(world, cwd), await aboutGo(world, source.top)];
  // Version managers choose by what stands above a directory.
  if (here?.['GOVERSION'] !== looked?.['GOVERSION'])
    throw failed(
      `'go' is ${here?.['GOVERSION'] ?? 'none'} where it is built and ${looked?.['GOVERSION']} in the tree; put that release first on the PATH`,
    );
  return { cwd, env: { ...(await goEnv(asked)), ...more, GOWORK: workspaceOf(sources, directory) } };
};

/** Refuses packages that are neither of the sources nor of Go and the modules that go.sum pins. */
export const refuseOtherPackages = async (
  { cwd, env }: GoPlace,
  main: string,
  sources: string,
  { interrupted }: World,
): Promise<void> => {
  const listed = ['go', 'list', '-deps', '-f', '{{if not .Standard}}{{.Dir}}{{end}}', main];
  const said = await answerOf(listed, env, cwd, interrupted);
  if (said === undefined) throw failed(`'${listed.slice(0, 3).join(' ')} ${main}' fails where it was built`);
  refuseOutsiders(
    said.split('\n').filter((one) => one !== ''),
    [sources, env['GOMODCACHE'] ?? sources],
  );
};

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
  const found = (await aboutGo(asked.world, top))?.['GOVERSION'];
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
    const place = await goPlace(directory, sources, asked, {
      GOOS: 'linux',
      GOARCH: asked.arch,
      GOAMD64: 'v1',
      GOARM64: 'v8.0',
    });
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
      { ...place, interrupted: asked.world.interrupted },
    );
    await refuseOtherPackages(place, main, sources, asked.world);
  },
};

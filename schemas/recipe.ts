/**
 * A bundle's recipe (YAML): what is built, from what, to where. Spec §8. People write it, so unknown keys are refused.
 * Paths of sources are relative to the top of the git tree that the recipe stands in; paths of results to the bundle.
 */
import * as v from 'valibot';
import { isInside, positive, sha256, text, word } from './primitives.ts';

/** A path below the tree's top; `.` is the top itself. */
const treePath = v.pipe(
  text,
  v.check((path) => path === '.' || isInside(path), 'expected a path inside the source tree'),
);

/** Where a result goes: never over what every bundle has. */
const bundlePath = v.pipe(
  text,
  v.check(isInside, 'expected a path inside the bundle'),
  v.check(
    (path) => !/^(COMMIT|VERSIONS|ARTIFACTS\.sha256|bundle\.json|lib\/(pod\.mjs|package\.json))$/.test(path),
    'expected another path: every bundle has a file of that name',
  ),
);

const version = v.pipe(
  v.string('expected a Node release such as v24.1.0'),
  v.regex(/^v\d+\.\d+\.\d+$/, 'expected a Node release such as v24.1.0'),
);

const https = v.pipe(
  v.string('expected an address'),
  v.regex(/^https:\/\/[^\s@/]+\/[^\s]+$/, 'expected an https address without a user'),
);

/** One archive: where it is, how long, and its digest. */
export const pinnedArchive = v.strictObject({ url: https, size: positive, sha256 });

/** One archive for each architecture that the bundle can be built for. */
const archives = v.strictObject({
  amd64: v.optional(pinnedArchive),
  arm64: v.optional(pinnedArchive),
});

/** What a program is built from: the git tree's files below `in` (default: the whole tree) and below each of `with`. */
const sources = {
  in: v.optional(treePath, '.'),
  with: v.optional(v.array(treePath), []),
};

/** Files of the source tree as they are. */
const files = v.strictObject({ kind: v.literal('files'), from: treePath, to: bundlePath });

/** A package, never a flag of the compiler. */
const mainPackage = v.pipe(text, v.regex(/^[^-\s]\S*$/, 'expected a package such as ./cmd/server'));

/** A Go program, built without cgo. */
const go = v.strictObject({
  kind: v.literal('go'),
  name: word,
  ...sources,
  /** The main package, as `go build` takes it. */
  package: v.optional(mainPackage, '.'),
});

/** A Go program as WebAssembly, dist/<name>.wasm, built with TinyGo. */
const tinygo = v.strictObject({
  kind: v.literal('tinygo'),
  name: word,
  ...sources,
  /** The main package, as `tinygo build` takes it. */
  package: v.optional(mainPackage, '.'),
  /** What the module runs in, as TinyGo names it. */
  target: v.optional(
    v.picklist(['wasip1', 'wasip2', 'wasi', 'wasm'], 'expected wasip1, wasip2, wasi or wasm'),
    'wasip1',
  ),
  /** Further flags of `tinygo build`; those that say where or for what it builds are not the recipe's. */
  flags: v.optional(
    v.array(
      v.pipe(
        text,
        v.regex(
          /^-(opt|gc|scheduler|panic|stack-size|tags|buildmode)=[\w,.-]+$/,
          'expected -opt=, -gc=, -scheduler=, -panic=, -stack-size=, -tags= or -buildmode=',
        ),
      ),
    ),
    [],
  ),
});

/** A program of a cargo package. */
const cargo = v.strictObject({
  kind: v.literal('cargo'),
  name: word,
  ...sources,
  /** The C library it is linked with; musl needs none in the pod. */
  libc: v.optional(v.picklist(['gnu', 'musl'], 'expected gnu or musl'), 'gnu'),
});

/** A TypeScript or JavaScript program, compiled into one file together with Bun. */
const bun = v.strictObject({ kind: v.literal('bun'), name: word, ...sources, entry: treePath });

/** Packages of a lockfile. */
const npm = v.strictObject({
  kind: v.literal('npm'),
  /** Directory with package.json and package-lock.json. */
  in: treePath,
  /** Directory that gets them and node_modules. */
  to: bundlePath,
  /** Hosts that packages may come from. */
  hosts: v.optional(v.array(text), ['registry.npmjs.org']),
  /** Path below node_modules → content digest of the files that are installed there. */
  content: v.optional(v.record(v.string(), sha256), {}),
});

/** Files of a published archive. */
const release = v.strictObject({
  kind: v.literal('release'),
  name: word,
  version: text,
  archives,
  /** Member of the archive → path in the bundle; nothing else is kept. */
  keep: v.pipe(
    v.record(v.string(), bundlePath),
    v.check((keep) => Object.keys(keep).length > 0, 'expected at least one file to keep'),
  ),
});

/** Node's own executable as bin/node, out of a published archive. */
const node = v.strictObject({ kind: v.literal('node'), release: version, archives });

/** A standalone CPython below python/, out of a published archive whose files stand below python/, too. */
const interpreter = {
  /** The build's own release. */
  release: v.pipe(text, v.regex(/^[\w.-]+$/, 'expected a release such as 20260414')),
  version: v.pipe(text, v.regex(/^3\.\d+\.\d+$/, 'expected a version of Python such as 3.12.13')),
  archives,
};
const python = v.strictObject({ kind: v.literal('python'), ...interpreter });

/** An agent as arms.lock pins it, below arms/<id>. */
const arm = v.strictObject({ kind: v.literal('arm'), id: word, lock: treePath });

export const artifact = v.variant(
  'kind',
  [files, go, tinygo, cargo, bun, npm, release, node, python, arm],
  'expected kind files, go, tinygo, cargo, bun, npm, release, node, python or arm',
);

/** Results that two artifacts would write. */
const places = (artifacts: readonly v.InferOutput<typeof artifact>[]): string[] =>
  artifacts.flatMap((one) => {
    if (one.kind === 'node') return ['bin/node'];
    if (one.kind === 'python') return ['python'];
    if (one.kind === 'tinygo') return [`dist/${one.name}.wasm`];
    if (one.kind === 'arm') return [`arms/${one.id}`];
    if (one.kind === 'release') return Object.values(one.keep);
    return 'to' in one ? [one.to] : [`bin/${one.name}`];
  });

/** Places that two artifacts want. */
export const clashes = (artifacts: readonly v.InferOutput<typeof artifact>[]): string[] => {
  const all = places(artifacts);
  return [...new Set(all.filter((one, at) => all.indexOf(one) !== at))].map(
    (twice) => `artifacts: expected one artifact for '${twice}', found two`,
  );
};

export const recipe = v.pipe(
  v.strictObject({
    /** Release of the base image's Node that the programs are built for: VERSIONS gets `node=`. */
    node: v.optional(version),
    /** Whether the built-in workloads are carried, too; the session itself always is. */
    workloads: v.optional(v.boolean('expected true or false'), true),
    artifacts: v.optional(v.array(artifact, 'expected a list of artifacts'), []),
    /** What `--agents` adds; `--arms` names more of the lock's. */
    agents: v.optional(
      v.strictObject({
        /** The arms.lock of the agents. */
        lock: treePath,
        arms: v.optional(v.array(word), []),
        /** What drives them. */
        python: v.optional(v.strictObject(interpreter)),
      }),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed) for (const message of clashes(dataset.value.artifacts)) addIssue({ message });
    if (!dataset.typed) return;
    const releases = dataset.value.artifacts.flatMap((one) => (one.kind === 'node' ? [one.release] : []));
    if (dataset.value.node !== undefined && releases.some((one) => one !== dataset.value.node))
      addIssue({
        message: `node: expected ${releases[0]}, as the artifact of kind node says, found ${dataset.value.node}`,
      });
  }),
);

export type Recipe = v.InferOutput<typeof recipe>;
export type Artifact = Recipe['artifacts'][number];
export type ArtifactOf<K extends Artifact['kind']> = Extract<Artifact, { kind: K }>;
export type PinnedArchive = v.InferOutput<typeof pinnedArchive>;
export type Arch = 'amd64' | 'arm64';

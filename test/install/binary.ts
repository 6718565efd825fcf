#!/usr/bin/env bun
/**
 * Builds k8sbench as one compiled binary: `bun test/install/binary.ts OUT [TARGET]`, TARGET as `bun build --compile` takes
 * it (bun-linux-arm64); without it, this machine's.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Glob } from 'bun';
import { sha256 } from '../../shared/files.ts';
import { packagesOfWorkloads } from '../../shared/workloads-place.ts';
import { podBundle } from '../../tools/pod/bundle.ts';
import { trialsBundle } from '../../tools/trials/bundle.ts';

const root = resolve(import.meta.dir, '../..');

/** Where the modules stand that are made for the build, in memory alone. */
const made = (path: string): string => join(root, 'test/install/made', path);

/** What the binary carries for other processes, by its path below `{root}`: the workloads, and the session as one file. */
const carriedFiles = async (): Promise<Map<string, string>> => {
  const workloads = join(root, 'shared/workloads');
  const files = new Map([
    // Node reads the nearest one to know that `.ts` files are modules; in the source tree that is the package's own.
    ['package.json', '{"type":"module"}\n'],
    ['lib/pod.mjs', await podBundle()],
    // Beside the workloads: only bundles with tasks have it.
    ['trials.mjs', await trialsBundle()],
  ]);
  for (const path of new Glob('lib/**/*').scanSync({ cwd: workloads }))
    files.set(path, await Bun.file(join(workloads, path)).text());
  for (const [path, from] of Object.entries(packagesOfWorkloads()))
    files.set(path, await Bun.file(from).text());
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** The entry: tells what is carried, then starts the dispatcher. */
const entryText = (files: ReadonlyMap<string, string>): string => {
  const all = [...files];
  return [
    ...all.map(
      ([path], at) => `import f${at} from ${JSON.stringify(`./carried/${path}`)} with { type: 'file' };`,
    ),
    "import { carry } from '../../../shared/own-files.ts';",
    "import { start } from '../../../tools/k8sbench/main.ts';",
    'carry({',
    ...all.map(([path, text], at) => `${JSON.stringify(path)}: { file: f${at}, sha256: '${sha256(text)}' },`),
    '});',
    'await start();',
  ].join('\n');
};

/** Builds into `out`, a path. The same tree gives the same bytes, wherever it and `out` are. */
export const buildBinary = async (out: string, target?: string): Promise<void> => {
  const files = await carriedFiles();
  const building = mkdtempSync(join(tmpdir(), 'k8sbench-binary-'));
  try {
    // The program's own name is inside.
    const outfile = join(building, 'k8sbench');
    await Bun.build({
      entrypoints: [made('entry.ts')],
      files: {
        [made('entry.ts')]: entryText(files),
        ...Object.fromEntries([...files].map(([path, text]) => [made(`carried/${path}`), text])),
      },
      format: 'esm',
      // Without it every built-in module that any tool imports is loaded at each start.
      splitting: true,
      // Names stay, so that a bug that is reported says where; source maps would bring in the place it was built at.
      minify: { whitespace: true, syntax: true, identifiers: false },
      bytecode: true,
      compile: {
        outfile,
        ...(target === undefined ? {} : { target: target as Bun.Build.CompileTarget }),
        // What lies in a user's directory must not change what is measured, or run inside it.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    });
    mkdirSync(dirname(out), { recursive: true });
    // Beside its place, then renamed: a program that runs can't be written over, and nobody starts half of one.
    const beside = `${out}.${process.pid}.tmp`;
    copyFileSync(outfile, beside);
    chmodSync(beside, 0o755);
    renameSync(beside, out);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  const [out, target] = process.argv.slice(2);
  if (out === undefined) throw new Error('usage: bun test/install/binary.ts OUT [TARGET]');
  const absolute = resolve(out);
  // Bundles name their modules from the current directory.
  process.chdir(root);
  await buildBinary(absolute, target);
}

import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { GenericSchema, InferOutput } from 'valibot';
import { cause, type Failure, failed, usage } from './failure.ts';
import { sha256File, touch, writeAtomically } from './files.ts';
import { jsonText, readJson } from './read.ts';
import { readStdin, type World } from './world.ts';

/** A run directory (DESIGN §3). Every file in it has one writer. */
export interface RunDirectory {
  /** Absolute path. */
  readonly path: string;
  /** The path as the user gave it: what a step prints for the next. */
  readonly shown: string;
  /** The run's id: the directory's base name. */
  readonly name: string;
  file(name: string): string;
  has(name: string): boolean;
  /** A JSON file in it, checked by its schema; a missing one says which step writes it. */
  json<S extends GenericSchema>(name: string, schema: S): InferOutput<S>;
  write(name: string, content: string | Uint8Array): void;
  writeJson(name: string, value: unknown): void;
  /** Digest of each named file that exists. */
  digests(names: readonly string[]): Promise<Record<string, string>>;
}

/** The step that writes each file, for the message when it is missing. */
const WRITERS: Readonly<Record<string, string>> = {
  'run.json': 'plan',
  'plan.json': 'plan',
  'profile.json': 'plan',
  'values.json': 'plan',
  'nodes.json': 'pick-nodes',
  'manifest.yaml': 'render',
  'job.json': 'run-session',
  'pod.log': 'run-session',
  'MANIFEST.sha256': 'run-session',
  'spread.json': 'run-session',
  'noise.json': 'analyze',
  'calibration.json': 'analyze',
  'analysis.json': 'analyze',
  'trials.json': 'trials',
};

/** What a run directory is known by, one of them: one that was imported or copied need not have all. */
const OF_A_RUN: readonly [string, ...string[]] = [
  'run.json',
  ...Object.keys(WRITERS),
  'pod.log.partial',
  'results.jsonl',
  'trials.jsonl',
  'trials-score.json',
];

/** A `--run` that names no run is a wrong command line, whether the directory is there or not. */
const noRun = (shown: string, why: string, mark: string): Failure =>
  usage(`run directory '${shown}' ${why}; 'k8sbench ${WRITERS[mark]}' makes one`);

/** The run directory at a path, which need not exist yet; `shown` is what messages call it. */
export const runDirectory = (path: string, shown = path): RunDirectory => {
  const file = (name: string): string => join(path, name);
  return {
    path,
    shown,
    name: basename(path),
    file,
    has: (name) => existsSync(file(name)),
    json(name, schema) {
      if (!existsSync(file(name))) {
        if (name === 'run.json') throw noRun(shown, 'has no run.json', name);
        throw failed(
          `'${shown}' has no ${name}` +
            (WRITERS[name] ? `; '${WRITERS[name]}' writes it: k8sbench ${WRITERS[name]} --run ${shown}` : ''),
        );
      }
      return readJson(file(name), schema, join(shown, name));
    },
    write: (name, content) => writeAtomically(file(name), content),
    writeJson: (name, value) => writeAtomically(file(name), jsonText(value)),
    async digests(names) {
      const all: Record<string, string> = {};
      for (const name of names) if (existsSync(file(name))) all[name] = await sha256File(file(name));
      return all;
    },
  };
};

/** The path that `--run` gives: itself, or with `-` the one line on stdin. */
export const runPath = async (given: string, world: World): Promise<string> => {
  if (given !== '-') return given;
  const lines = (await readStdin(world, 1 << 20)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw failed("'--run -': nothing arrived on stdin; the step before it failed");
  if (lines.length > 1)
    throw usage(`'--run -': expected one line, the path of a run directory, found ${lines.length} lines`);
  return lines[0]!.trim();
};

/** What `--run` names: a directory that has one of the files that a run is known by. */
export const openRun = async (
  given: string | undefined,
  world: World,
  marks: readonly [string, ...string[]] = OF_A_RUN,
): Promise<RunDirectory> => {
  if (given === undefined)
    throw usage("no run directory: name it with '--run DIR', or '--run -' to read its path from stdin");
  const shown = await runPath(given, world);
  const path = resolve(world.cwd, shown);
  if (!existsSync(path)) throw noRun(shown, 'does not exist', marks[0]);
  if (!statSync(path).isDirectory())
    throw usage(`'${shown}' is a file, not a run directory; did you mean '${dirname(shown)}'?`);
  try {
    // Without these, every file in it would look as if it were missing.
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw failed(`can't read run directory '${shown}': ${cause(error)}`);
  }
  const run = runDirectory(path, shown);
  if (!marks.some(run.has)) throw noRun(shown, `has no ${marks[0]}`, marks[0]);
  return run;
};

/** Makes a run's directory and those above it; a file in the way is a wrong command line, a full or closed disk a failure. */
export const createRun = (path: string, shown: string): RunDirectory => {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const inTheWay = code === 'EEXIST' || code === 'ENOTDIR';
    const why = inTheWay ? 'something on its path is a file' : cause(error);
    throw (inTheWay ? usage : failed)(
      `can't make the run directory '${shown}': ${why}; name another with '--out' or '--run'`,
    );
  }
  return runDirectory(path, shown);
};

/** A step skipped as done leaves its outputs newer than their inputs, as make wants them. */
export const touchAll = (run: RunDirectory, names: readonly string[]): void => {
  for (const name of names) if (run.has(name)) touch(run.file(name));
};

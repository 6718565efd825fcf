/** Run directories: a new one under its own name, or the one that was named; never a second plan over a first one. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { plan as planSchema } from '../../schemas/plan.ts';
import { type Run, run as runSchema } from '../../schemas/run.ts';
import { usage } from '../../shared/failure.ts';
import { writeAtomically } from '../../shared/files.ts';
import { removeManifests } from '../../shared/job/manifest-file.ts';
import { createRun, type RunDirectory, runDirectory, touchAll } from '../../shared/rundir.ts';
import { type Files, inputsDigest, type LaidDown, layDown, type Request } from './lay-down.ts';
import { fitsAsRun, runId } from './run-id.ts';

/** What `plan` writes into a run directory, and into each child's. */
const NAMES = ['profile.json', 'values.json', 'run.json', 'plan.json'];

export interface Written {
  run: RunDirectory;
  laid: LaidDown;
  /** It was there already, from the same inputs. */
  skipped: boolean;
}

const writeFiles = (directory: string, files: Files): void => {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of files) writeAtomically(join(directory, name), text);
};

/** Children first and plan.json last: a directory with plan.json is whole. */
const writeAll = (run: RunDirectory, laid: LaidDown): void => {
  for (const child of laid.children) writeFiles(run.file(child.run), child.files);
  writeFiles(run.path, laid.files);
};

const HIDING = '.gitignore';

/**
 * Makes the directory of all runs; a new one hides itself from git, so that measuring does not make a repository dirty. One
 * that holds nothing counts as new: whoever made it may have been killed before it was hidden.
 */
const makeOut = (out: string): void => {
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).every((name) => name.startsWith(`${HIDING}.`)))
    writeAtomically(join(out, HIDING), '*\n');
};

/** The id that a request gets when `taken` runs of its name exist. */
export const idOf = (request: Request, now: number, taken: number): string =>
  runId({
    mode: request.session.mode,
    ...(request.about.commit ? { commit: request.about.commit } : {}),
    word: request.session.profile.name,
    now,
    taken,
  });

/** Writes a new run below `out`. Two plans of the same second get two names: who makes the directory has it. */
export const writeNew = (request: Request, out: { path: string; shown: string }, now: number): Written => {
  makeOut(out.path);
  for (let taken = 0; ; taken++) {
    const id = idOf(request, now, taken);
    const run = runDirectory(join(out.path, id), join(out.shown, id));
    try {
      mkdirSync(run.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    const laid = layDown(request, id, now);
    writeAll(run, laid);
    return { run, laid, skipped: false };
  }
};

/** Settings in which two plans differ, by name; a run's own identity is left out. */
const differences = (before: object, after: object): string[] => {
  const own = new Set(['run', 'planned_at', 'orderSeed', 'files', 'inputsSha256', 'children', 'format']);
  const [was, is] = [before, after] as Record<string, unknown>[];
  return [...new Set([...Object.keys(was!), ...Object.keys(is!)])].filter(
    (key) => !own.has(key) && JSON.stringify(was![key]) !== JSON.stringify(is![key]),
  );
};

/** Writes the run directory that was named, unless it is there from the same inputs. */
export const writeNamed = (
  request: Request,
  named: { path: string; shown: string },
  now: number,
  force: boolean,
): Written => {
  const { path, shown } = named;
  const name = basename(path);
  if (!fitsAsRun(name, request.children))
    throw usage(
      `flag '--run': '${name}' can't be a run's name: a-z, 0-9 and -, at most 63 characters with '-n<k>'`,
    );
  const run = runDirectory(path, shown);
  const laid = layDown(request, name, now);
  const before = run.has('run.json') ? run.json('run.json', runSchema) : undefined;
  if (!before) checkEmpty(run);
  else if (before.parent !== undefined)
    throw usage(`flag '--run': '${shown}' is a part of run '${before.parent}'; plan that one`);
  else if (run.has('plan.json')) {
    if (before.inputsSha256 === inputsDigest(request) && !force) {
      touchAll(run, NAMES);
      for (const child of before.children ?? []) touchAll(runDirectory(run.file(child)), NAMES);
      return { run, laid, skipped: true };
    }
    refuseOver(run, before, laid, force);
    removeChildren(run, before, laid);
  }
  if (before) {
    // Made from the plan that is replaced: another image, other nodes.
    removeManifests(run);
    rmSync(run.file('nodes.json'), { force: true });
  }
  createRun(path, shown);
  writeAll(run, laid);
  return { run, laid, skipped: false };
};

/** A directory without run.json may hold what a plan left when it was killed, and nothing else. */
const checkEmpty = (run: RunDirectory): void => {
  if (!existsSync(run.path)) return;
  const ours = (file: string): boolean =>
    file.endsWith('.tmp') || NAMES.includes(file) || file.startsWith(`${run.name}-n`);
  const strange = readdirSync(run.path).find((file) => !ours(file));
  if (strange !== undefined)
    throw usage(`flag '--run': '${run.shown}' is not a run directory and not empty: it holds '${strange}'`);
};

const refuseOver = (run: RunDirectory, before: Run, laid: LaidDown, force: boolean): void => {
  const started = [run, ...(before.children ?? []).map((child) => runDirectory(run.file(child)))].some(
    (one) => one.has('job.json'),
  );
  if (started && force)
    throw usage(`'${run.shown}' was started; a plan is not changed under its results: plan another run`);
  if (force) return;
  const after = JSON.parse(laid.files.get('run.json')!) as Run;
  const differ = new Set([
    ...differences(before, after),
    ...differences(run.json('plan.json', planSchema).compact, laid.plan.compact),
  ]);
  const inWhat = differ.size > 0 ? [...differ].join(', ') : 'values';
  throw usage(
    `'${run.shown}' was planned from other inputs (${inWhat}); ` +
      (started ? 'plan another run' : "plan another run, or plan this one again with '--force'"),
  );
};

/** Children of an earlier plan that the new one doesn't have. They were never started. */
const removeChildren = (run: RunDirectory, before: Run, laid: LaidDown): void => {
  const kept = new Set(laid.children.map((one) => one.run));
  for (const child of before.children ?? [])
    if (!kept.has(child)) rmSync(run.file(child), { recursive: true, force: true });
};

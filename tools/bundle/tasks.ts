/** `bundle build --tasks`: what a trial bundle has beside its artifacts: each locked task's instruction and tests, never its solution. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type LockedTask, tasksLock } from '../../schemas/tasks-lock.ts';
import { cause, failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { inTree } from '../../shared/own-files.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import { PROGRAM } from '../../shared/task-run/names.ts';
import { treeOf } from '../../shared/tree-digest.ts';
import { workloadsRoot } from '../../shared/workloads-place.ts';
import type { Part } from './assemble.ts';
import { listOf, normalise } from './tree.ts';
import type { BundleCall } from './flags.ts';

/** What of a task is carried; its answer never is. */
const isCarried = (path: string): boolean => path === 'instruction.md' || path.startsWith('tests/');

/** How a task's directory differs from the lock; nothing of a task that does is bundled. */
const differences = (directory: string, task: LockedTask): string[] => {
  let found;
  try {
    found = new Map(treeOf(directory).map((one) => [one.path, one]));
  } catch (error) {
    return [`task '${task.name}': ${cause(error)}`];
  }
  const wrong = Object.entries(task.files).flatMap(([path, locked]) => {
    const one = found.get(path);
    if (!one) return [`'${path}' is locked and not there`];
    if (one.sha256 !== locked.sha256) return [`'${path}' has another content than the locked one`];
    return one.executable === (locked.x ?? false) ? [] : [`'${path}' has another mode than the locked one`];
  });
  const more = [...found.keys()].filter(
    (path) => !Object.hasOwn(task.files, path) && !path.startsWith('solution/'),
  );
  return [...wrong, ...more.map((path) => `'${path}' is not locked`)].map(
    (one) => `task '${task.name}': ${one}`,
  );
};

const copyTask = (from: string, { name, files }: LockedTask, out: string): void => {
  for (const [path, { x }] of Object.entries(files)) {
    if (!isCarried(path)) continue;
    const into = join(out, 'tasks', name, path);
    mkdirSync(dirname(into), { recursive: true });
    copyFileSync(join(from, name, path), into);
    chmodSync(into, x ? 0o755 : 0o644);
  }
};

/** The program of trial and model pods: made here, or carried by a compiled binary. */
const writeProgram = (out: string, { world }: BundleCall): void => {
  const into = join(out, PROGRAM);
  mkdirSync(dirname(into), { recursive: true });
  const carried = join(workloadsRoot(world.env), 'trials.mjs');
  try {
    return copyFileSync(carried, into);
  } catch {
    // A source tree makes it.
  }
  const made = Bun.spawnSync([process.execPath, inTree('tools/trials/bundle.ts'), into], {
    cwd: inTree(''),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  if (made.exitCode !== 0) throw failed(`can't make trials.mjs: ${made.stderr.toString().trim()}`);
};

/** The tasks as one more part of the bundle; none without `--tasks`. */
export const tasksPart = async (call: BundleCall, scratch: string): Promise<Part[]> => {
  const { flags, given, world } = call;
  if (flags.tasks === undefined) {
    if (given.has('tasks-lock')) throw usage("'--tasks-lock' needs --tasks: the directory of the tasks");
    return [];
  }
  const shown = flags['tasks-lock'] ?? 'tasks.lock';
  const written = readText(resolve(world.cwd, shown), shown);
  const lock = check(tasksLock, { value: parseJson(written, shown, usage) }, shown, usage);
  const from = resolve(world.cwd, flags.tasks);
  const problems = lock.tasks.flatMap((task) => differences(join(from, task.name), task));
  if (problems.length > 0)
    throw failed([
      ...problems.slice(0, 20),
      ...(problems.length > 20 ? [`${problems.length - 20} more differences`] : []),
      `'${flags.tasks}' is not what '${shown}' locks: check out commit ${lock.dataset.commit}, or lock again`,
    ]);
  const directory = join(scratch, 'tasks');
  mkdirSync(directory);
  for (const task of lock.tasks) copyTask(from, task, directory);
  writeProgram(directory, call);
  mkdirSync(join(directory, 'share'), { recursive: true });
  writeFileSync(join(directory, 'share/tasks.lock'), written);
  normalise(directory);
  const files = await listOf(directory);
  const version = lock.dataset.commit;
  return [
    {
      fact: {
        name: `tasks of ${lock.dataset.name}`,
        kind: 'tasks',
        key: sha256(JSON.stringify(files)),
        pins: { 'tasks.lock': sha256(written) },
        version,
      },
      built: { directory, files },
    },
  ];
};

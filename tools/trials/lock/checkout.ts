/** A dataset's checkout, read and never written: which commit it is, and each task's files. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LockedTask, TasksLock } from '../../../schemas/tasks-lock.ts';
import { revision, word } from '../../../schemas/primitives.ts';
import { is } from 'valibot';
import { cause, usage } from '../../../shared/failure.ts';
import { gitIn } from '../../../shared/git.ts';
import { readText } from '../../../shared/read.ts';
import { listDigest, treeOf } from '../../../shared/tree-digest.ts';
import type { World } from '../../../shared/world.ts';
import { readTaskToml, type TaskFacts } from './task-toml.ts';

/** A task as its files say it; the image is still a name. */
export interface FoundTask extends Pick<LockedTask, 'name' | 'files' | 'testsSha256' | 'sha256'> {
  facts: TaskFacts;
}

export interface Checkout {
  commit: string;
  published: string;
  tasks: FoundTask[];
  leftOut: TasksLock['leftOut'];
}

/** What is never bundled: the answer. */
const SOLUTION = /^solution(\/|$)/;
const NEEDED = ['task.toml', 'instruction.md', 'tests/test.sh'];

/** Files of a task by digest, or why it has none that can be locked. */
const filesOf = (
  directory: string,
): Pick<FoundTask, 'files' | 'testsSha256' | 'sha256'> | { reason: string } => {
  let all;
  try {
    all = treeOf(directory).filter((one) => !SOLUTION.test(one.path));
  } catch (error) {
    return { reason: cause(error) };
  }
  const tests = all
    .filter((one) => one.path.startsWith('tests/'))
    .map((one) => ({ ...one, path: one.path.slice('tests/'.length) }));
  return {
    files: Object.fromEntries(
      all.map(({ path, sha256, executable }) => [
        path,
        { sha256, ...(executable ? { x: true as const } : {}) },
      ]),
    ),
    testsSha256: listDigest(tests),
    sha256: listDigest(all),
  };
};

const taskIn = (directory: string, name: string): FoundTask | { reason: string } => {
  if (!is(word, name)) return { reason: 'its name is no word of A-Z, a-z, 0-9, ".", "_" and "-"' };
  const missing = NEEDED.filter((one) => !existsSync(join(directory, one)));
  if (missing.length > 0) return { reason: `it has no ${missing.join(', ')}` };
  if (
    ['docker-compose.yaml', 'docker-compose.yml', 'compose.yaml', 'compose.yml'].some((one) =>
      existsSync(join(directory, 'environment', one)),
    )
  )
    return { reason: 'it needs several containers (docker-compose.yaml)' };
  const files = filesOf(directory);
  if ('reason' in files) return files;
  const facts = readTaskToml(readText(join(directory, 'task.toml'), `${name}/task.toml`), 'task.toml');
  return 'reason' in facts ? facts : { name, facts, ...files };
};

interface Wanted {
  commit: string | undefined;
  published: string | undefined;
}

const MORE = 'without a git repository give --commit and --published';

/** Commit and day of a git checkout, which must hold nothing but its commit; else as the flags say. */
const identityOf = (
  src: string,
  shown: string,
  wanted: Wanted,
  env: World['env'],
): Pick<Checkout, 'commit' | 'published'> => {
  const git = gitIn(src, env);
  const head = git.try('rev-parse', '--verify', 'HEAD^{commit}');
  if (head === undefined) {
    if (wanted.commit === undefined || wanted.published === undefined)
      throw usage(`'${shown}' is no git checkout with a commit; ${MORE}`);
    return { commit: wanted.commit, published: wanted.published };
  }
  if (wanted.commit !== undefined && wanted.commit !== head)
    throw usage(`'${shown}' is at commit ${head}, '--commit' says ${wanted.commit}`);
  const changed = git.run('status', '--porcelain=v1', '--untracked-files=all', '--', '.').trimEnd();
  if (changed !== '') {
    const paths = changed.split('\n').map((line) => line.slice(3));
    throw usage(
      `'${shown}' holds more than its commit: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}; lock a clean checkout`,
    );
  }
  const date = new Date(git.run('show', '-s', '--format=%cI', 'HEAD').trim());
  return { commit: head, published: wanted.published ?? date.toISOString() };
};

/** Every task below `src`, in bytewise order of the names; `only` keeps some of them. */
export const readCheckout = (
  src: string,
  wanted: Wanted & { only: readonly string[] | undefined },
  world: World,
): Checkout => {
  const path = resolve(world.cwd, src);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw usage(`flag '--src': '${src}' is no directory`);
  if (wanted.commit !== undefined && !is(revision, wanted.commit))
    throw usage(`flag '--commit': expected 40 hex digits, found '${wanted.commit}'`);
  const identity = identityOf(path, src, wanted, world.env);
  const names = readdirSync(path, { withFileTypes: true })
    .filter((one) => one.isDirectory() && !one.name.startsWith('.'))
    .map((one) => one.name)
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  if (names.length === 0) throw usage(`'${src}' holds no task; name the dataset's directory of tasks`);
  const unknown = (wanted.only ?? []).filter((one) => !names.includes(one));
  if (unknown.length > 0) throw usage(unknown.map((one) => `'${src}' has no task '${one}'`));
  const tasks: FoundTask[] = [];
  const leftOut: Checkout['leftOut'] = [];
  for (const name of names.filter((one) => wanted.only?.includes(one) ?? true)) {
    const found = taskIn(join(path, name), name);
    if ('reason' in found) leftOut.push({ name, reason: found.reason });
    else tasks.push(found);
  }
  return { ...identity, tasks, leftOut };
};

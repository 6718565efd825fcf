/** A profile of two commits of the reader's own program: each built in its own tree, both measured by one plain command. */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { failed, usage } from '../../shared/failure.ts';
import { isExecutable, isFile } from '../../shared/file-kinds.ts';
import { type Git, gitIn } from '../../shared/git.ts';
import type { Talk } from '../../shared/talk.ts';
import type { World } from '../../shared/world.ts';
import { buildsDirectory, builtTree, locked } from './builds.ts';
import { assemble, type NamedCommand, questionName, readCommand, readWords } from './plain-commands.ts';
import { ambiguousWords, inTree, namesTree } from './tree-words.ts';

/** The word that stands for the files as they are now, committed or not. */
export const WORKTREE = 'WORKTREE';

export interface TwoCommits {
  old: string;
  new: string;
  /** Run one after another in each tree. */
  builds: readonly string[];
  sample: string;
  prepare?: string;
  floor?: string;
  repeat: number;
  name?: string;
  outputCheck: boolean;
}

interface Version {
  /** Commit id that is checked out. */
  checkout: string;
  /** What is recorded: the commit, with `-dirty` when the files differ from it. */
  commit: string;
  shown: string;
}

/**
 * The files as they are now as a commit of their own, which no branch holds: tracked and new files, ignored ones left out.
 * Equal files give an equal commit (no clock, no name in it), so its build is found again. The index is not touched.
 */
const snapshot = async (git: Git, world: World, talk: Talk): Promise<Version> => {
  const head = git.run('rev-parse', '--verify', 'HEAD^{commit}');
  const builds = buildsDirectory(git, world.env);
  mkdirSync(builds, { recursive: true });
  const release = await locked(join(builds, 'snapshot.lock'), 'a snapshot of the files', world, talk);
  // One name for all, under a lock: what a killed k8sbench or its git left is found and taken away.
  const index = join(builds, 'snapshot.index');
  const clean = (): void => [index, `${index}.lock`].forEach((path) => rmSync(path, { force: true }));
  try {
    clean();
    const own = git.run('rev-parse', '--path-format=absolute', '--git-path', 'index');
    // The copy knows which files are unchanged, so that only the others are read.
    if (existsSync(own)) copyFileSync(own, index);
    const aside = git.with({ GIT_INDEX_FILE: index });
    aside.run('add', '--all', '--', ':/');
    const tree = aside.run('write-tree');
    if (tree === git.run('rev-parse', 'HEAD^{tree}'))
      return { checkout: head, commit: head, shown: `${WORKTREE} (${head.slice(0, 10)}, unchanged)` };
    const nobody = { NAME: 'k8sbench', EMAIL: 'k8sbench@localhost', DATE: '@0 +0000' };
    const env = Object.fromEntries(
      Object.entries(nobody).flatMap(([key, value]) => [
        [`GIT_AUTHOR_${key}`, value],
        [`GIT_COMMITTER_${key}`, value],
      ]),
    );
    const checkout = git.with(env).run('commit-tree', tree, '-p', head, '-m', 'k8sbench: files as they were');
    return { checkout, commit: `${head}-dirty`, shown: `${WORKTREE} (${head.slice(0, 10)}-dirty)` };
  } finally {
    clean();
    release();
  }
};

const versionOf = async (
  git: Git,
  flag: string,
  revision: string,
  problems: string[],
  outside: { world: World; talk: Talk },
): Promise<Version | undefined> => {
  if (revision === WORKTREE) return snapshot(git, outside.world, outside.talk);
  const commit = git.try('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  if (commit === undefined)
    problems.push(`flag '--${flag}': '${revision}' is not a revision of this repository, nor ${WORKTREE}`);
  return commit === undefined
    ? undefined
    : {
        checkout: commit,
        commit,
        shown: revision === commit ? commit.slice(0, 10) : `${revision} (${commit.slice(0, 10)})`,
      };
};

/** What can only be seen once the trees are built: programs that aren't there, words that mean two files. */
const problemsInTree = (words: readonly string[], tree: string, shown: string): string[] => {
  const program = inTree(words, tree)[0]!;
  const problems: string[] = [];
  if (namesTree(words[0]!)) {
    if (!isFile(program))
      problems.push(`${shown} has no '${words[0]}' after its build: ${program} is not a file`);
    else if (!isExecutable(program)) problems.push(`'${words[0]}' of ${shown} is not executable: ${program}`);
  }
  for (const word of ambiguousWords(words, (relative) => isFile(join(tree, relative))))
    problems.push(
      `'${word}' is a file of ${shown}, and would be read from the current directory for both commits; write './${word}' for each commit's own, or an absolute path`,
    );
  return problems;
};

/** Builds both commits and gives the profile that compares them: reference `old`, candidate `new`. */
export const profileOfCommits = async (asked: TwoCommits, world: World, talk: Talk): Promise<Profile> => {
  const problems: string[] = [];
  const sample = readWords(asked.sample, 'sample', problems);
  const prepare = asked.prepare === undefined ? undefined : readWords(asked.prepare, 'prepare', problems);
  const builds = asked.builds.map((one) => readWords(one, 'build', problems));
  const floor = asked.floor === undefined ? undefined : readCommand(asked.floor, 'floor', 'floor', problems);
  if (sample.length > 0 && !sample.some(namesTree))
    problems.push(
      `flag '--sample': nothing in '${asked.sample}' is taken from the commits; write './x' for a file of each commit's tree, or {worktree} inside a word`,
    );
  const git = gitIn(world.cwd, world.env);
  if (git.try('rev-parse', '--is-inside-work-tree') !== 'true')
    throw usage([
      ...problems,
      `'${world.cwd}' is not in a git repository: --old and --new name commits of one`,
    ]);
  const before = await versionOf(git, 'old', asked.old, problems, { world, talk });
  const after = await versionOf(git, 'new', asked.new, problems, { world, talk });
  if (before && after && before.checkout === after.checkout)
    problems.push(
      `flags '--old' and '--new' name the same files, ${before.commit.slice(0, 10)}; to see what a difference of nothing looks like, plan with --aa`,
    );
  if (problems.length > 0 || !before || !after) throw usage(problems);

  const prefix = git.run('rev-parse', '--show-prefix').replace(/\/$/, '');
  const trees: string[] = [];
  for (const one of [before, after])
    trees.push(
      await builtTree({ git, commit: one.checkout, shown: one.shown, commands: builds, prefix }, world, talk),
    );
  const [oldTree, newTree] = trees as [string, string];
  const unfit = [
    ...problemsInTree(sample, oldTree, before.shown),
    ...problemsInTree(sample, newTree, after.shown),
  ];
  if (unfit.length > 0) throw failed([...new Set(unfit)]);
  const target = (role: 'candidate' | 'reference', name: string, tree: string): NamedCommand => ({
    role,
    name,
    words: inTree(sample, tree),
    ...(prepare ? { prepare: inTree(prepare, tree) } : {}),
  });
  const commands = [
    target('candidate', 'new', newTree),
    target('reference', 'old', oldTree),
    ...(floor ? [floor] : []),
  ];
  return assemble({
    commands,
    repeat: asked.repeat,
    outputCheck: asked.outputCheck,
    // Commits are left out of the name: next week's pair continues this history.
    name:
      asked.name ??
      questionName(commands, {
        sample,
        prepare,
        builds,
        floor: floor?.words,
        check: asked.outputCheck,
      }),
    about: `two commits of one program: '${asked.sample}' of ${before.shown} against ${after.shown}`,
    commits: { reference: before.commit, candidate: after.commit },
  });
};

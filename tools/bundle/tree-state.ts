/** Whether a git tree is what its commit says, also where `git status` was told not to look, or a setting of the user changes files. */
import { gitIn } from '../../shared/git.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Git's paths as they are, whatever bytes stand in them. */
export const pathsOf = (top: string, env: Env, args: readonly string[]): string[] => {
  const out = gitIn(top, env).run('-c', 'core.quotePath=off', ...args, '-z');
  return out.split('\0').filter((one) => one !== '');
};

/** Files that git does not look at: `git update-index --assume-unchanged`, `--skip-worktree`, a sparse checkout. */
const unseen = (top: string, env: Env): string[] =>
  pathsOf(top, env, ['ls-files', '-v'])
    .filter((one) => /^[a-zS] /.test(one))
    .map(
      (one) => `'${one.slice(2)}' is hidden from git (assume-unchanged, skip-worktree or a sparse checkout)`,
    );

/** Files whose line ends a setting of the user changes; what .gitattributes says is the same for everybody. */
const converted = (top: string, env: Env): string[] => {
  const git = gitIn(top, env);
  if (
    git.try('config', '--get', 'core.autocrlf') !== 'true' &&
    git.try('config', '--get', 'core.eol') !== 'crlf'
  )
    return [];
  return pathsOf(top, env, ['ls-files', '--eol']).flatMap((one) => {
    const [, kept, here, attributes, path] =
      /^i\/(\S*)\s+w\/(\S*)\s+attr\/(.*?)\s*\t([\s\S]*)$/.exec(one) ?? [];
    return path === undefined || kept === here || attributes!.includes('eol=')
      ? []
      : [`'${path}' has other line ends than in the commit (core.autocrlf, core.eol)`];
  });
};

/** What of a tree is not as its commit says, one sentence each; untracked files that `isOurs` knows are none. */
export const changesIn = (top: string, env: Env, isOurs: (path: string) => boolean): string[] => [
  ...pathsOf(top, env, [
    '-c',
    'core.fileMode=true',
    'status',
    '--porcelain=v1',
    '--untracked-files=all',
    '--no-renames',
  ])
    .filter((one) => !(one.startsWith('??') && isOurs(one.slice(3))))
    .map((one) => `'${one.slice(3)}' is ${one.startsWith('??') ? 'untracked' : 'not committed'}`),
  ...unseen(top, env),
  ...converted(top, env),
];

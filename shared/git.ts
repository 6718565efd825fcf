import { spawnSync } from 'node:child_process';
import { failed, usage } from './failure.ts';

/** Git in one directory. Variables that a hook or an outer git set are left out: they would name another repository. */
export interface Git {
  /** Standard output of a command without its last newline; undefined when git ends with another status than 0. */
  try(...args: string[]): string | undefined;
  /** As `try`; a failure is an error that carries git's own words. */
  run(...args: string[]): string;
  /** The same directory with further variables. */
  with(env: Readonly<Record<string, string>>): Git;
}

/** Git in `cwd`, with `env` less what an outer git has set. Nothing is started yet. */
export const gitIn = (cwd: string, env: Readonly<Record<string, string | undefined>>): Git => {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  return gitWith(cwd, { ...own, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' });
};

const gitWith = (cwd: string, env: Readonly<Record<string, string | undefined>>): Git => {
  const call = (args: readonly string[]) => {
    // Hooks of the repository are programs: none of them has a part in a measurement.
    const done = spawnSync('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
      cwd,
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if ((done.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      throw usage("'git' is not on the PATH; install it");
    if (done.error) throw done.error;
    return done;
  };
  return {
    try(...args) {
      const done = call(args);
      return done.status === 0 ? done.stdout.replace(/\n$/, '') : undefined;
    },
    run(...args) {
      const done = call(args);
      if (done.status === 0) return done.stdout.replace(/\n$/, '');
      const words = done.stderr.trim().replace(/^(fatal|error): /, '');
      throw failed(`git ${args[0]} failed: ${words || `exit status ${done.status ?? done.signal}`}`);
    },
    with: (more) => gitWith(cwd, { ...env, ...more }),
  };
};

/** This machine, as far as a local session can be refused early for it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { isExecutable } from '../../shared/file-kinds.ts';
import { runtimeWords } from '../../shared/own-files.ts';
import type { World } from '../../shared/world.ts';

export interface Machine {
  /** Absolute path of the first executable of that name on the PATH. */
  onPath(name: string): string | undefined;
  isExecutable(path: string): boolean;
  exists(path: string): boolean;
  /** Major release of a Node; undefined when it doesn't start. */
  nodeMajor(path: string): number | undefined;
  /** The words before a script that the Bun which runs this is to run. */
  readonly bun: readonly string[];
  /** CPUs that this process may use, as the kernel lists them; undefined where it doesn't. */
  allowedCpus(): string | undefined;
}

export const machineOf = ({ cwd, env }: Pick<World, 'cwd' | 'env'>): Machine => ({
  onPath: (name) =>
    (env['PATH'] ?? '')
      .split(delimiter)
      // An empty entry is the current directory, as for a shell.
      .map((directory) => resolve(cwd, join(directory, name)))
      .find(isExecutable),
  isExecutable,
  exists: existsSync,
  nodeMajor: (path) => {
    const { stdout } = spawnSync(path, ['--version'], { cwd, env, encoding: 'utf8', timeout: 10_000 });
    const major = /^v(\d+)\./.exec(stdout ?? '')?.[1];
    return major === undefined ? undefined : Number(major);
  },
  bun: runtimeWords(),
  allowedCpus: () => {
    const status = '/proc/self/status';
    if (!existsSync(status)) return undefined;
    return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(status, 'utf8'))?.[1];
  },
});

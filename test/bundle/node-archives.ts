/** Node's executable for a kind of machine as npm carries it, fetched once with npm, for fixtures/bundles/workloads. */
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const RELEASE = '24.22.3';
export type Cpu = 'x64' | 'arm64';

/** A directory with the archives of these machines, for `--archives`. */
export const nodeArchives = (cpus: readonly Cpu[]): string => {
  const directory = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'k8sbench-tests/node');
  mkdirSync(directory, { recursive: true });
  for (const cpu of cpus) {
    const name = `node-linux-${cpu}`;
    if (existsSync(join(directory, `${name}-${RELEASE}.tgz`))) continue;
    const done = Bun.spawnSync(['npm', 'pack', '--silent', `${name}@${RELEASE}`], {
      cwd: directory,
      stderr: 'pipe',
    });
    if (done.exitCode !== 0) throw new Error(`npm pack ${name}: ${done.stderr.toString()}`);
  }
  return directory;
};

#!/usr/bin/env bun
/**
 * A cluster of its own for one run of tests: started by the first test file that needs it, removed by a process that
 * outlives the tests, whatever ends them. As a program, `own-cluster.ts PID DIR`, it is that process; without words it waits
 * until those of ended runs are removed.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { down } from './down.ts';
import { type StartedCluster, up } from './up.ts';

const PREFIX = 'k8sbench-test-cluster-';
const isAlive = (pid: string | number): boolean => existsSync(`/proc/${pid}`);
/** How long a cluster takes to be removed, ms. */
const REMOVING_MS = 30_000;

/** Clusters of test runs that have ended. */
const leftovers = (): string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX) && !isAlive(name.slice(PREFIX.length)))
    .map((name) => join(tmpdir(), name));

/** Removes those that ended together with the process that was to remove them. */
const removeLeftovers = async (): Promise<void> => {
  const until = performance.now() + REMOVING_MS;
  while (leftovers().length > 0 && performance.now() < until) await Bun.sleep(200);
  for (const directory of leftovers()) await down(directory);
};

/** Starts a cluster that is there for as long as this process is. */
export const ownCluster = async (): Promise<StartedCluster> => {
  await removeLeftovers();
  const directory = join(tmpdir(), PREFIX + process.pid);
  const watcher = spawn(process.execPath, [import.meta.path, String(process.pid), directory], {
    detached: true,
    stdio: 'ignore',
  });
  watcher.unref();
  return up({ directory });
};

if (import.meta.main) {
  const [pid, directory] = process.argv.slice(2);
  if (pid === undefined || directory === undefined) await removeLeftovers();
  else {
    while (isAlive(pid)) await Bun.sleep(200);
    await down(directory);
  }
}

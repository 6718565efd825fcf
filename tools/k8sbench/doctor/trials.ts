/** What has to be tried on the real machine; everything made for it is removed again. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { locateCgroup } from '../../../shared/cgroup.ts';
import { allowedListOf } from '../../../shared/cpu-list.ts';
import { cause } from '../../../shared/failure.ts';
import type { Machine } from '../../../shared/machine.ts';
import { runtimeWords } from '../../../shared/own-files.ts';
import { workloadsRoot } from '../../../shared/workloads-place.ts';
import type { World } from '../../../shared/world.ts';
import { allowedCores } from './cores.ts';
import type { Trials } from './finding.ts';

/** Longest that a small program may take, ms. */
const LONGEST_MS = 10_000;
const WRITES = 25;
const WRITE_BYTES = 4096;
const PROGRAMS = ['taskset', 'mkfifo', 'cat', 'sync', 'git', 'node', 'bun'];

const outputOf = (world: World, program: string, args: readonly string[]): string | undefined => {
  const done = spawnSync(program, args, {
    cwd: world.cwd,
    env: world.env,
    encoding: 'utf8',
    timeout: LONGEST_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return done.status === 0 ? done.stdout : undefined;
};

const onPath = ({ cwd, env }: World): Record<string, string> =>
  Object.fromEntries(
    PROGRAMS.flatMap((name) => {
      // An empty entry of the PATH is the current directory, as for a shell.
      const directories = (env['PATH'] ?? '').split(delimiter).map((one) => resolve(cwd, one));
      const found = Bun.which(name, { PATH: directories.join(delimiter) });
      return found ? [[name, found]] : [];
    }),
  );

/** The release that a runtime names; absent when it doesn't start. */
const release = (world: World, program: string | undefined): string | undefined =>
  program === undefined
    ? undefined
    : /^v?(\d+\.\d+\.\d+)/.exec(outputOf(world, program, ['--version']) ?? '')?.[1];

/** Pins a process to the last allowed core and asks it where it may run. */
const pinOf = (world: World, machine: Machine, { taskset, cat }: Record<string, string>): Trials['pin'] => {
  if (taskset === undefined) return "'taskset' is not on the PATH";
  if (cat === undefined) return "'cat' is not on the PATH, by which a pin is checked";
  const core = allowedCores(machine).at(-1);
  if (core === undefined) return 'no core is known to be allowed';
  const wanted = String(core.cpu);
  const got = allowedListOf(outputOf(world, taskset, ['-c', wanted, cat, '/proc/self/status']));
  return got === undefined ? `'taskset -c ${wanted}' could not start a process` : { wanted, got };
};

/** Makes a cgroup below this process's own, moves a waiting process into it, and removes both. */
const leafOf = async (machine: Machine, cat: string | undefined): Promise<Trials['leaf']> => {
  const cgroup = locateCgroup(machine);
  if (!cgroup.usage) return cgroup.reason ?? 'no cgroup counts CPU time';
  if (cat === undefined) return "'cat' is not on the PATH, by which a cgroup is tried";
  const directory = cgroup.usage.dir;
  const leaf = join(directory, `k8sbench-doctor-${process.pid}`);
  try {
    mkdirSync(leaf);
  } catch (error) {
    return `no cgroup can be made below '${directory}': ${cause(error)}`;
  }
  const child = spawn(cat, [], { stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    writeFileSync(join(leaf, 'cgroup.procs'), String(child.pid));
    return { directory };
  } catch (error) {
    return `no process can be moved into a cgroup below '${directory}': ${cause(error)}`;
  } finally {
    child.kill('SIGKILL');
    await ended;
    await removed(leaf);
  }
};

/** The kernel may count a process in a cgroup for a moment after it has ended. */
const removed = async (leaf: string): Promise<void> => {
  for (let tries = 0; tries < 50; tries++)
    try {
      return rmdirSync(leaf);
    } catch {
      await sleep(20);
    }
};

/** Times of small durable writes in the directory that fixtures would lie in. */
const temporaryOf = ({ cwd, env }: World): Trials['temporary'] => {
  const base = resolve(cwd, env['TMPDIR'] || tmpdir());
  let own: string | undefined;
  try {
    const path = realpathSync(base);
    own = mkdtempSync(join(path, 'k8sbench-doctor-'));
    const fd = openSync(join(own, 'write'), 'w');
    const block = new Uint8Array(WRITE_BYTES);
    const fsync_s: number[] = [];
    for (let at = 0; at < WRITES; at++) {
      const from = performance.now();
      writeSync(fd, block);
      fsyncSync(fd);
      fsync_s.push((performance.now() - from) / 1000);
    }
    closeSync(fd);
    const { bavail, bsize } = statfsSync(path);
    return { path, free_bytes: bavail * bsize, fsync_s };
  } catch (error) {
    return { path: base, problem: `can't write in '${base}': ${cause(error)}` };
  } finally {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  }
};

const workloadsOf = ({ env }: World): Trials['workloads'] => {
  try {
    return { root: workloadsRoot(env) };
  } catch (error) {
    return cause(error).split('\n')[0]!;
  }
};

/** Everything tried, in about a tenth of a second. */
export const tryOut = async (world: World, machine: Machine): Promise<Trials> => {
  const programs = onPath(world);
  const [node, bun] = [release(world, programs['node']), release(world, programs['bun'])];
  return {
    programs,
    ...(node === undefined ? {} : { node }),
    ...(bun === undefined ? {} : { bun }),
    ownRuntime: runtimeWords().join(' '),
    workloads: workloadsOf(world),
    pin: pinOf(world, machine, programs),
    leaf: await leafOf(machine, programs['cat']),
    temporary: temporaryOf(world),
  };
};

/** A place where tools are started as processes and killed: all that they leave behind can be found again. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { scratchDirectory } from './bed.ts';

const MAIN = resolve(import.meta.dir, '../../tools/k8sbench/main.ts');
/** In the environment of all that is started here, and of all that these start. */
const MARK = 'K8SBENCH_TEST_SCENE';

export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

export interface Scene {
  dir: string;
  /** Value of K8SBENCH_TEST_SCENE in the environment of all that is started in it. */
  mark: string;
  file(name: string): string;
  /**
   * Starts a tool; `killedAfter` ms it is killed, it alone, as the kernel kills when memory runs out. `through`: words of a
   * program that starts it.
   */
  run(
    args: readonly string[],
    options?: { killedAfter?: number; env?: Record<string, string>; through?: readonly string[] },
  ): Promise<Ended>;
  /** Processes, cgroups and temporary files that are still there, in words. */
  leftovers(): string[];
  remove(): void;
}

const environmentOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
};
const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 120);
  } catch {
    return '';
  }
};

/** Directories below the cgroup file systems with a name that begins so. */
const cgroupsNamed = (start: string): string[] => {
  const found: string[] = [];
  const visit = (path: string, depth: number): void => {
    let entries;
    try {
      entries = readdirSync(path, { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries)
      if (entry.isDirectory()) {
        if (entry.name.startsWith(start)) found.push(join(path, entry.name));
        if (depth < 6) visit(join(path, entry.name), depth + 1);
      }
  };
  visit('/sys/fs/cgroup', 0);
  return found;
};

/** `runs`: what the names of its runs, and so of their cgroups, begin with. `dir`: an empty directory, else a new one. */
export const makeScene = (name: string, runs: string, dir = scratchDirectory(`scene-${name}`)): Scene => {
  const mark = `${name}-${process.pid}-${Math.random()}`;
  const file = (inside: string): string => join(dir, inside);
  for (const inside of ['tmp', 'cache', 'work']) mkdirSync(file(inside));
  writeFileSync(
    file('work/profile.json'),
    JSON.stringify({
      name: 'pair',
      rule: 'pair',
      about: 'two commands',
      targets: [
        { name: 'new', role: 'candidate', command: ['true'] },
        { name: 'old', role: 'reference', command: ['true'] },
      ],
      repeat: 2,
    }),
  );
  return {
    dir,
    mark,
    file,
    async run(args, { killedAfter, env = {}, through = [] } = {}) {
      const child = Bun.spawn([...through, process.execPath, MAIN, ...args], {
        cwd: file('work'),
        env: {
          ...process.env,
          TMPDIR: file('tmp'),
          XDG_CACHE_HOME: file('cache'),
          K8SBENCH_NOW: String(Date.parse('2026-01-02T03:04:05.000Z')),
          NO_COLOR: '1',
          [MARK]: mark,
          ...env,
        },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const timer =
        killedAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfter);
      // What it started may hold its output open for longer than it lives.
      const exited = child.exited.then(() => Bun.sleep(2000));
      const text = (stream: ReadableStream<Uint8Array>): Promise<string> =>
        Promise.race([new Response(stream).text(), exited.then(() => '')]);
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      await child.exited;
      clearTimeout(timer);
      return { exit: child.signalCode === null ? child.exitCode : null, stdout, stderr };
    },
    leftovers() {
      const processes = readdirSync('/proc')
        .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
        .filter((pid) => environmentOf(pid).includes(`${MARK}=${mark}`))
        .map((pid) => `process ${pid}: ${commandOf(pid)}`);
      const temporary = readdirSync(file('tmp')).map((one) => `temporary file '${one}'`);
      const half = (readdirSync(dir, { recursive: true }) as string[])
        .filter((one) => one.endsWith('.tmp'))
        .map((one) => `half-written '${one}'`);
      return [...processes, ...cgroupsNamed(runs).map((one) => `cgroup '${one}'`), ...temporary, ...half];
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
};

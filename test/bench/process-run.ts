/** Programs run as their users run them: how long one took, what it cost, how large it grew. */
import { openSync, closeSync } from 'node:fs';

export interface Ran {
  wallMs: number;
  cpuMs: number;
  stdout: string;
}

/** The same, and how large it grew. */
export interface Grown extends Ran {
  peakMB: number;
}

export interface How {
  cwd?: string;
  env?: Record<string, string>;
  /** A file. */
  stdin?: string;
  /** Read what it prints; else it goes nowhere. */
  keep?: boolean;
  /** Exit codes that are no failure; 0 always is none. */
  exits?: readonly number[];
}

const grown = async (words: readonly string[], how: How): Promise<Grown> => {
  const stdin = how.stdin === undefined ? 'ignore' : openSync(how.stdin, 'r');
  const from = performance.now();
  const child = Bun.spawn([...words], {
    stdin,
    stdout: how.keep ? 'pipe' : 'ignore',
    stderr: 'pipe',
    env: { ...process.env, ...how.env },
    ...(how.cwd === undefined ? {} : { cwd: how.cwd }),
  });
  const [stdout, stderr] = await Promise.all([
    how.keep ? new Response(child.stdout as ReadableStream).text() : '',
    new Response(child.stderr).text(),
  ]);
  const exit = await child.exited;
  const wallMs = performance.now() - from;
  if (typeof stdin === 'number') closeSync(stdin);
  if (exit !== 0 && !how.exits?.includes(exit))
    throw new Error(`'${words.join(' ')}' ended with ${exit}: ${stderr.slice(-500)}`);
  const { cpuTime, maxRSS } = child.resourceUsage()!;
  return { wallMs, cpuMs: Number(cpuTime.total) / 1000, peakMB: maxRSS / 1e6, stdout };
};

/** Runs a program once to its end. Throws when it fails. */
export const run = async (words: readonly string[], how: How = {}): Promise<Ran> => {
  const { wallMs, cpuMs, stdout } = await grown(words, how);
  return { wallMs, cpuMs, stdout };
};

/**
 * The same, with its peak memory. By a small process of its own: a child's peak is never told as smaller than its parent's,
 * and a benchmark has grown by then.
 */
export const runForPeak = async (words: readonly string[], how: How = {}): Promise<Grown> => {
  const asked = JSON.stringify({ words, how });
  const { stdout } = await run([process.execPath, import.meta.path, asked], { keep: true });
  return JSON.parse(stdout) as Grown;
};

/** Runs contestants in turn, each once per repetition and every other time the other way round. Gives what each gave. */
export const interleaved = async <Name extends string, T>(
  repetitions: number,
  contestants: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, T[]>> => {
  const names = Object.keys(contestants) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let at = 0; at < repetitions; at++)
    for (const name of at % 2 === 0 ? names : names.toReversed()) all[name].push(await contestants[name]());
  return all;
};

if (import.meta.main) {
  const { words, how } = JSON.parse(process.argv[2]!) as { words: string[]; how: How };
  console.log(JSON.stringify(await grown(words, how)));
}

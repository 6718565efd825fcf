/** Programs timed from outside, as their users meet them: wall time and peak memory of one process. */

export interface Measured {
  seconds: number;
  peak_bytes: number;
  stdout: string;
}

/** Runs a program once; fails when it does. `discard` drops what it prints. */
export const measured = async (words: readonly string[], discard = false): Promise<Measured> => {
  const began = performance.now();
  const child = Bun.spawn([...words], {
    stdin: 'ignore',
    stdout: discard ? Bun.file('/dev/null') : 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    discard ? '' : new Response(child.stdout as ReadableStream).text(),
    new Response(child.stderr).text(),
  ]);
  const status = await child.exited;
  if (status !== 0) throw new Error(`'${words.join(' ')}' ended with ${status}: ${stderr}`);
  return { seconds: (performance.now() - began) / 1000, peak_bytes: child.resourceUsage()!.maxRSS, stdout };
};

/** The run of median time among several. */
export const medianOf = async (times: number, run: () => Promise<Measured>): Promise<Measured> => {
  const all: Measured[] = [];
  for (let at = 0; at < times; at++) all.push(await run());
  return all.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(times / 2)]!;
};

export interface Goal {
  what: string;
  value: number;
  unit: string;
  limit: number;
  holds: boolean;
}
export const atLeast = (what: string, value: number, limit: number, unit = 'times faster'): Goal => ({
  what,
  value,
  unit,
  limit,
  holds: value >= limit,
});
export const atMost = (what: string, value: number, limit: number, unit: string): Goal => ({
  what,
  value,
  unit,
  limit,
  holds: value <= limit,
});

/** One line per goal; true when all hold. */
export const tell = (goals: readonly Goal[]): boolean => {
  for (const { what, value, unit, limit, holds } of goals)
    console.log(`${holds ? 'ok  ' : 'MISS'}  ${what}: ${value.toFixed(2)} ${unit} (goal ${limit})`);
  return goals.every((one) => one.holds);
};

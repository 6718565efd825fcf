/** Many writers of one file, some of them killed in the midst: nothing that was written is lost, and nothing is merged. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratchDirectory } from './bed.ts';
import { Random } from './random.ts';

const WRITERS = 20;

/** `kills` of the writers are killed at random moments, and begin again under another name. What was wrong, one sentence each. */
export const writersProblems = async (
  kind: 'track' | 'attempts',
  lines: number,
  kills: number,
  seed: number,
): Promise<string[]> => {
  const dir = scratchDirectory(`writers-${kind}`);
  const random = new Random(seed);
  mkdirSync(join(dir, 'out'));
  const path = kind === 'track' ? join(dir, 'track.jsonl') : join(dir, 'out');
  const file = kind === 'track' ? path : join(path, 'attempts.jsonl');
  const said: string[] = [];
  const write = async (name: string, killedAfter?: number): Promise<number | null> => {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'writer.ts'), kind, path, name, String(lines)],
      {
        stdout: 'pipe',
        stderr: 'inherit',
      },
    );
    if (killedAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killedAfter);
    // What a killed one said last may be torn; what it said whole was written.
    said.push(...(await new Response(child.stdout).text()).split('\n').slice(0, -1));
    await child.exited;
    return child.signalCode === null ? child.exitCode : null;
  };
  try {
    const exits = await Promise.all(
      Array.from({ length: WRITERS }, async (_, at) => {
        if (at >= kills) return write(`w${at}`);
        await write(`k${at}`, 60 + random.below(400));
        return write(`w${at}`);
      }),
    );
    const found = readFileSync(file, 'utf8').split('\n');
    const last = found.pop();
    const runs = found.flatMap((line) => {
      try {
        return [(JSON.parse(line) as { run: string }).run];
      } catch {
        return [undefined];
      }
    });
    const times = Map.groupBy(runs, (one) => one);
    return [
      ...exits.flatMap((exit, at) => (exit === 0 ? [] : [`writer ${at} ended with ${exit}`])),
      ...(last === '' ? [] : ['the file does not end with a newline']),
      ...(times.has(undefined) ? [`${times.get(undefined)!.length} lines are not whole`] : []),
      ...said.filter((run) => !times.has(run)).map((run) => `the line of '${run}' is lost`),
      ...[...times].flatMap(([run, all]) =>
        all.length > 1 ? [`the line of '${run}' stands ${all.length} times`] : [],
      ),
      ...(existsSync(`${file}.torn`) && kills === 0 ? ['a torn line without a kill'] : []),
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** One reader's inputs in a process of its own, watched: an input that hangs is named and ended. */
import { join } from 'node:path';
import type { Violation } from './fuzz.ts';

/** How long nothing may be heard of it, ms: the fifty inputs of a report take a few hundred. */
const SILENCE_MS = 60_000;

export interface Campaign {
  reader: string;
  inputs: number;
  /** Exit status → how often. */
  exits: Record<string, number>;
  violations: Violation[];
  /** Why it did not come to its end. */
  problem?: string;
}

type Said = { at?: number; violation?: Violation; done?: { inputs: number; exits: Record<string, number> } };

export const campaign = async (
  reader: string,
  seed: number,
  count: number,
  large = false,
): Promise<Campaign> => {
  const args = [reader, String(seed), String(count), ...(large ? ['large'] : [])];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'fuzz.ts'), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const result: Campaign = { reader, inputs: 0, exits: {}, violations: [] };
  let at: number | undefined;
  let hangs = false;
  const timer = (): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      hangs = true;
      child.kill('SIGKILL');
    }, SILENCE_MS);
  let silence = timer();
  const stderr = new Response(child.stderr).text();
  let done = false;
  let rest = '';
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    clearTimeout(silence);
    silence = timer();
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const said = JSON.parse(line) as Said;
      at = said.at ?? at;
      if (said.violation) result.violations.push(said.violation);
      if (said.done) {
        done = true;
        Object.assign(result, said.done);
      }
    }
  }
  clearTimeout(silence);
  await child.exited;
  if (hangs) result.problem = `seed ${seed}: hangs at one of the inputs from number ${at}`;
  else if (!done) result.problem = `seed ${seed}: ended after input ${at}: ${(await stderr).slice(-2000)}`;
  return result;
};

/** Runs jobs, so many at a time, in order. */
export const inParallel = async <T>(jobs: readonly (() => Promise<T>)[], at: number): Promise<T[]> => {
  const results: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine < jobs.length; mine = next++) results[mine] = await jobs[mine]!();
  };
  await Promise.all(Array.from({ length: at }, work));
  return results;
};

/**
 * What a process costs in a session: from one sample's line to the next one's, everything between processes counted, divided
 * by the processes of a sample; the median over the samples. Against the median that hyperfine tells for the same process.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, quantile } from '../../shared/statistics.ts';
import type { Bed } from './bed.ts';
import { type Figure, figureOf, type Goal, notMeasured, ratios, shown } from './figure.ts';
import { peer } from './peers.ts';
import { interleaved, run } from './process-run.ts';
import { type PlainSession, plainSession } from './session.ts';

const ROW = 'per-process';
const GOALS: Readonly<Record<PlainSession['runtime'], Goal>> = { bun: { most: 1.4 }, node: { most: 2.2 } };

/** Processes in one session, about. */
const PROCESSES = 400;

/** Of many times: the middle one, and what one in ten stays under; on a busy machine the rest waits for a core. */
interface Times {
  middle: number;
  quiet: number;
}

const timesOf = (all: readonly number[]): Times => ({ middle: median(all), quiet: quantile(all, 0.1) });

const perProcess = async (bed: Bed, runtime: PlainSession['runtime'], repeat: number): Promise<Times> => {
  const rounds = Math.max(8, Math.round(PROCESSES / repeat));
  const { samples } = await plainSession({ command: 'true', repeat, rounds, runtime }, bed);
  return timesOf(samples.slice(1).map((one, at) => (one.at - samples[at]!.at) / repeat));
};

const hyperfine = async (path: string, bed: Bed, cpus: string): Promise<Times> => {
  const json = join(bed.directory, 'hyperfine.json');
  const command = `taskset -c ${cpus} true`;
  await run([path, '-N', '--warmup', '20', '--runs', String(PROCESSES), '--export-json', json, command]);
  const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { times: number[] }[] };
  return timesOf(results[0]!.times.map((one) => 1000 * one));
};

export const processCost = async (bed: Bed): Promise<Figure[]> => {
  const kinds = (['bun', 'node'] as const).flatMap((runtime) =>
    [2, 100].map((repeat) => ({ runtime, repeat })),
  );
  const asked = kinds.map(({ runtime, repeat }) => ({
    row: ROW,
    what: `a process in a session on ${runtime === 'bun' ? 'Bun' : 'Node'}, ${repeat} a sample, against hyperfine -N`,
    goal: GOALS[runtime],
    unit: '×' as const,
  }));
  const found = await peer('hyperfine');
  if ('why' in found) return asked.map((one) => notMeasured(one, found.why));
  const { cpus } = await plainSession({ command: 'true', repeat: 2, rounds: 3, runtime: 'bun' }, bed);
  const each = await interleaved(bed.repetitions, {
    hyperfine: () => hyperfine(found.path, bed, cpus),
    ...Object.fromEntries(
      kinds.map(({ runtime, repeat }) => [`${runtime} ${repeat}`, () => perProcess(bed, runtime, repeat)]),
    ),
  } as Record<string, () => Promise<Times>>);
  return kinds.flatMap(({ runtime, repeat }, at) =>
    (['middle', 'quiet'] as const).map((which) => {
      const [ours, theirs] = [`${runtime} ${repeat}`, 'hyperfine'].map((name) =>
        each[name]!.map((one) => one[which]),
      );
      const what = which === 'middle' ? asked[at]!.what : `the same, in the quietest tenth of each`;
      const from = `${shown(ours!, 'ms')} with everything between processes, hyperfine ${shown(theirs!, 'ms')}`;
      return figureOf({ ...asked[at]!, what, from }, ratios(ours!, theirs!));
    }),
  );
};

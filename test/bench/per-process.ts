/**
 * What a process costs in a session: from one sample's line to the next one's, everything between processes counted, divided
 * by the processes of a sample; the median over the samples. Against the median that hyperfine tells for the same process.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../shared/statistics.ts';
import type { Bed } from './bed.ts';
import { type Figure, figureOf, type Goal, notMeasured, ratios, shown } from './figure.ts';
import { peer } from './peers.ts';
import { interleaved, run } from './process-run.ts';
import { type PlainSession, plainSession } from './session.ts';

const ROW = 'per-process';
const GOALS: Readonly<Record<PlainSession['runtime'], Goal>> = { bun: { most: 1.4 }, node: { most: 2.2 } };

/** Processes in one session, about. */
const PROCESSES = 300;

const perProcess = async (bed: Bed, runtime: PlainSession['runtime'], repeat: number): Promise<number> => {
  const rounds = Math.max(4, Math.round(PROCESSES / repeat));
  const { samples } = await plainSession({ command: 'true', repeat, rounds, runtime }, bed);
  return median(samples.slice(1).map((one, at) => (one.at - samples[at]!.at) / repeat));
};

const hyperfine = async (path: string, bed: Bed, cpus: string): Promise<number> => {
  const json = join(bed.directory, 'hyperfine.json');
  const command = `taskset -c ${cpus} true`;
  await run([path, '-N', '--warmup', '20', '--runs', String(PROCESSES), '--export-json', json, command]);
  const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { median: number }[] };
  return results[0]!.median * 1000;
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
  } as Record<string, () => Promise<number>>);
  return kinds.map(({ runtime, repeat }, at) => {
    const ours = each[`${runtime} ${repeat}`]!;
    const from = `${shown(ours, 'ms')} with everything between processes, hyperfine ${median(each['hyperfine']!).toFixed(2)} ms`;
    return figureOf({ ...asked[at]!, from }, ratios(ours, each['hyperfine']!));
  });
};

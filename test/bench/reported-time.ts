/**
 * Whether a session's times are true: a program that sleeps 10 ms tells how long it ran by its own clock. What is reported
 * beyond that is the start and the end of a process, which every program that times processes reports, and its bias.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, quantile } from '../../shared/statistics.ts';
import { type Bed, inTree } from './bed.ts';
import { type Figure, figureOf, notMeasured } from './figure.ts';
import { peer } from './peers.ts';
import { interleaved, run } from './process-run.ts';
import { type PlainSession, plainSession } from './session.ts';

const ROW = 'reported-time';
const PROCESSES = 60;

/** What was reported beyond the program's own time, ms each. */
type Beyond = number[];

let files = 0;

const sleeper = (bed: Bed): { words: string[]; beyond(reported: readonly number[]): Beyond } => {
  const file = join(bed.directory, `slept-${files++}`);
  return {
    words: ['perl', inTree('test/bench/sleeper.pl'), file],
    beyond(reported) {
      // A session also ran it once beforehand, unreported.
      const own = readFileSync(file, 'utf8').trim().split('\n').slice(-reported.length);
      return reported.map((one, at) => one - 1000 * Number(own[at]));
    },
  };
};

const bySession = async (bed: Bed, runtime: PlainSession['runtime']): Promise<Beyond> => {
  const { words, beyond } = sleeper(bed);
  const session = { command: words.join(' '), repeat: 10, rounds: PROCESSES / 10, runtime };
  const { samples } = await plainSession(session, bed);
  return beyond(samples.flatMap((one) => one.turn));
};

const byHyperfine = async (path: string, bed: Bed, cpus: string): Promise<Beyond> => {
  const { words, beyond } = sleeper(bed);
  const json = join(bed.directory, 'slept.json');
  const command = ['taskset', '-c', cpus, ...words].join(' ');
  await run([path, '-N', '--runs', String(PROCESSES), '--export-json', json, command]);
  const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { times: number[] }[] };
  return beyond(results[0]!.times.map((one) => 1000 * one));
};

const byPerf = async (path: string, bed: Bed, cpus: string): Promise<Beyond> => {
  const { words, beyond } = sleeper(bed);
  const out = join(bed.directory, 'perf.txt');
  const reported: number[] = [];
  for (let at = 0; at < PROCESSES; at++) {
    await run([path, 'stat', '-e', 'task-clock', '-o', out, 'taskset', '-c', cpus, ...words]);
    const found = /([\d.]+) seconds time elapsed/.exec(readFileSync(out, 'utf8'));
    reported.push(1000 * Number(found![1]));
  }
  return beyond(reported);
};

const middle = (runs: readonly Beyond[]): string => median(runs.flat()).toFixed(2);

export const reportedTime = async (bed: Bed): Promise<Figure[]> => {
  const [perf, hyperfine] = [await peer('perf'), await peer('hyperfine')];
  const { cpus } = await plainSession({ command: 'true', repeat: 2, rounds: 3, runtime: 'bun' }, bed);
  const each = await interleaved<string, Beyond>(bed.repetitions, {
    bun: () => bySession(bed, 'bun'),
    node: () => bySession(bed, 'node'),
    ...('path' in perf ? { perf: () => byPerf(perf.path, bed, cpus) } : {}),
    ...('path' in hyperfine ? { hyperfine: () => byHyperfine(hyperfine.path, bed, cpus) } : {}),
  });
  const peers = [
    { name: 'perf', called: 'perf stat', found: perf },
    { name: 'hyperfine', called: 'hyperfine -N', found: hyperfine },
  ];
  return (['bun', 'node'] as const).flatMap((runtime) =>
    peers.map(({ name, called, found }) => {
      const asked = {
        row: ROW,
        what: `time reported for a sleep of 10 ms on ${runtime === 'bun' ? 'Bun' : 'Node'}, bias against ${called}, in spreads of the runs`,
        goal: { most: 1 },
        unit: '×' as const,
      };
      if ('why' in found) return notMeasured(asked, found.why);
      const [ours, theirs] = [each[runtime]!, each[name]!];
      const biases = ours.map((one, at) => median(one) - median(theirs[at]!));
      const spreads = ours.map((one) => quantile(one, 0.75) - quantile(one, 0.25));
      return figureOf(
        {
          ...asked,
          from:
            `reported beyond the program's own clock: ${middle(ours)} ms, ${called} ${middle(theirs)} ms; ` +
            `bias ${median(biases).toFixed(2)} ms, middle half of the runs ${median(spreads).toFixed(2)} ms wide`,
        },
        biases.map((one, at) => Math.abs(one) / spreads[at]!),
      );
    }),
  );
};

/** `analyze` on sessions whose evidence is the work: six primary metrics, few bytes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generator } from '../../shared/evidence/random.ts';
import { madeLog } from '../made-log.ts';
import { type Bed, tool } from './bed.ts';
import { type Figure, figureOf } from './figure.ts';
import { interleaved, type Ran, run } from './process-run.ts';

const ROW = 'evidence';
const PRIMARY = ['warm', 'cold', 'cpuWarm', 'cpuCold', 'peakRss', 'retained'];

/** A session with noise of its own in each of the six metrics. */
const logOf = (rounds: number, turns: number[]): string => {
  const random = generator(5);
  const around = (value: number): number =>
    value * Math.exp(0.02 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
  return madeLog({
    rounds,
    turns,
    profile: { primary: PRIMARY },
    sample: (_, size) => {
      const turn = Array.from({ length: 10 }, () => around(size / 5));
      return {
        open: around(size),
        turn,
        openCpu: around(size),
        turnCpu: turn.map((one) => 0.8 * one),
        peakRss: around(80),
        retained: around(20),
      };
    },
  });
};

export const evidence = async (bed: Bed): Promise<Figure[]> => {
  const sessions = {
    short: { rounds: 12, turns: [50, 500, 3500], most: 1 },
    long: { rounds: 1000, turns: [50, 500, 3500], most: 5 },
  };
  const analyzed = ({ rounds, turns }: { rounds: number; turns: number[] }) => {
    const directory = join(bed.directory, `evidence-${rounds}`);
    mkdirSync(directory);
    writeFileSync(join(directory, 'pod.log'), logOf(rounds, turns));
    return () => run([...tool('analyze'), '--run', directory, '--force']);
  };
  const each = await interleaved<string, Ran>(bed.repetitions, {
    short: analyzed(sessions.short),
    long: analyzed(sessions.long),
  });
  return Object.entries(sessions).map(([name, { rounds, turns, most }]) =>
    figureOf(
      {
        row: ROW,
        what: `analyze: ${rounds.toLocaleString('en')} rounds, ${turns.length} sizes, ${PRIMARY.length} primary metrics`,
        goal: { most },
        unit: 's',
        from: 'the whole program, with its files written',
      },
      each[name]!.map((one) => one.wallMs / 1000),
    ),
  );
};

/** Time that is lost between samples of one second, as a share of the time that is measured. */
import type { Bed } from './bed.ts';
import { type Figure, figureOf, shown } from './figure.ts';
import { interleaved } from './process-run.ts';
import { type PlainSession, plainSession } from './session.ts';

const ROW = 'between-samples';
const ROUNDS = 6;

/** Half a second each: a sample of two is one second. */
const COMMANDS = {
  waits: 'sleep 0.5',
  computes: `perl -MTime::HiRes=time -e 'my $t = time; 1 while time - $t < 0.498'`,
};

/** The share lost, %. */
const lost = async (bed: Bed, command: string, runtime: PlainSession['runtime']): Promise<number> => {
  const { samples } = await plainSession({ command, repeat: 2, rounds: ROUNDS, runtime }, bed);
  const measured = samples
    .slice(1)
    .flatMap((one) => one.turn)
    .reduce((sum, one) => sum + one, 0);
  return 100 * ((samples.at(-1)!.at - samples[0]!.at) / measured - 1);
};

export const timeBetween = async (bed: Bed): Promise<Figure[]> => {
  const kinds = (['bun', 'node'] as const).flatMap((runtime) =>
    (['waits', 'computes'] as const).map((how) => ({ runtime, how })),
  );
  const each = await interleaved(
    bed.repetitions,
    Object.fromEntries(
      kinds.map(({ runtime, how }) => [`${runtime} ${how}`, () => lost(bed, COMMANDS[how], runtime)]),
    ),
  );
  return kinds.map(({ runtime, how }) => {
    const values = each[`${runtime} ${how}`]!;
    return figureOf(
      {
        row: ROW,
        what: `lost between samples of 1 s of a program that ${how}, on ${runtime === 'bun' ? 'Bun' : 'Node'}`,
        goal: { most: 2 },
        unit: '%',
        from: `${shown(values, '%')} of the measured time, ${ROUNDS - 1} samples of two processes`,
      },
      values,
    );
  });
};

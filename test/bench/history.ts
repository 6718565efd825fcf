/** `tracker append` and `tracker show` on a history of 100,000 lines. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bed, inTree, tool } from './bed.ts';
import { type Figure, figureOf } from './figure.ts';
import { type Grown, interleaved, run, runForPeak } from './process-run.ts';

const ROW = 'history';
const LINES = 100_000;

/** A history in which the run's own rule and size stand, every other line. */
const writeHistory = (path: string): void => {
  const [line] = readFileSync(inTree('fixtures/example/history.jsonl'), 'utf8').split('\n');
  const one = JSON.parse(line!) as Record<string, unknown>;
  let text = '';
  for (let at = 0; at < LINES; at++)
    text += `${JSON.stringify({
      ...one,
      at: new Date(Date.UTC(2020, 0, 1) + at * 60_000).toISOString(),
      ...(at % 2 === 0 ? {} : { rule: 'another' }),
      run: `out/k8sbench-cmp-${at}`,
    })}\n`;
  writeFileSync(path, text);
};

export const history = async (bed: Bed): Promise<Figure[]> => {
  const directory = join(bed.directory, 'run');
  const track = join(bed.directory, 'track.jsonl');
  mkdirSync(directory);
  copyFileSync(inTree('fixtures/example/pod.log'), join(directory, 'pod.log'));
  await run([...tool('analyze'), '--run', directory]);
  writeHistory(track);
  const each = await interleaved<string, Grown>(bed.repetitions, {
    append: () => runForPeak([...tool('tracker'), 'append', '--run', directory, '--track', track]),
    show: () => runForPeak([...tool('tracker'), 'show', '--track', track]),
  });
  const megabytes = Bun.file(track).size / 1e6;
  return Object.entries(each).flatMap(([verb, runs]) => [
    figureOf(
      {
        row: ROW,
        what: `tracker ${verb} on a history of 100,000 lines`,
        goal: { most: 1 },
        unit: 's',
        from: `${megabytes.toFixed(0)} MB of history`,
      },
      runs.map((one) => one.wallMs / 1000),
    ),
    figureOf(
      { row: ROW, what: `its peak memory`, goal: { most: 200 }, unit: 'MB', from: 'resident' },
      runs.map((one) => one.peakMB),
    ),
  ]);
};

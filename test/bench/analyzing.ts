/** `analyze` on session logs of 500 MB, against jq that only parses and a program that only parses. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../shared/statistics.ts';
import { type Bed, inTree, tool } from './bed.ts';
import { type Figure, figureOf, notMeasured, ratios, shown } from './figure.ts';
import { type Kind, KINDS } from './large-log.ts';
import { peer } from './peers.ts';
import { type Grown, interleaved, type Ran, run, runForPeak } from './process-run.ts';

const ROW = 'analyze';
const BYTES = 500e6;

const seconds = (runs: readonly Ran[]): number[] => runs.map((one) => one.wallMs / 1000);

const ofKind = async (bed: Bed, kind: Kind): Promise<Figure[]> => {
  const directory = join(bed.directory, kind);
  const log = join(directory, 'pod.log');
  mkdirSync(directory);
  // By a process of its own: a child's peak is never told as smaller than its parent's.
  await run([process.execPath, inTree('test/bench/large-log.ts'), log, kind, String(BYTES)]);
  const jq = await peer('jq');
  // The made-up times are noisier than a session's; judged they are all the same.
  const words = [...tool('analyze'), '--max-cv', '9'];
  const each = await interleaved<string, Grown>(bed.repetitions, {
    // A run directory without run.json: the log alone, the rows written.
    directory: () => runForPeak([...words, '--run', directory, '--force']),
    log: () => runForPeak([...words, '--log', log]),
    bare: () => runForPeak([process.execPath, inTree('test/bench/bare-parse.ts'), log]),
    ...('path' in jq ? { jq: () => runForPeak([jq.path, '-c', 'select(.t == "none")', log]) } : {}),
  });
  rmSync(directory, { recursive: true });
  const speed = (name: string): string => `${(BYTES / 1e6 / median(seconds(each[name]!))).toFixed(0)} MB/s`;
  const cpu = (name: string): number[] => each[name]!.map((one) => one.cpuMs);
  return [
    { name: 'directory', called: 'with its rows written' },
    { name: 'log', called: 'from the log alone' },
  ].flatMap(({ name, called }) => {
    const ours = each[name]!;
    const about = `${kind} log, ${called}`;
    const perCpu = (other: string): string =>
      `${median(ratios(cpu(other), cpu(name))).toFixed(2)}× by CPU time`;
    const fast = { row: ROW, unit: '×' as const };
    const againstJq = { ...fast, what: `speed on a ${about}, against jq that parses`, goal: { least: 3 } };
    return [
      'path' in jq
        ? figureOf(
            { ...againstJq, from: `${speed(name)}, jq ${speed('jq')}; ${perCpu('jq')}` },
            ratios(seconds(each['jq']!), seconds(ours)),
          )
        : notMeasured(againstJq, jq.why),
      figureOf(
        {
          ...fast,
          what: `speed on a ${about}, against JSON.parse of each line`,
          goal: { least: 0.4 },
          from: `${speed(name)}, bare ${speed('bare')}; ${perCpu('bare')}`,
        },
        ratios(seconds(each['bare']!), seconds(ours)),
      ),
      figureOf(
        {
          row: ROW,
          what: `peak memory on a ${about}`,
          goal: { most: 400 },
          unit: 'MB',
          from: `${shown(
            ours.map((one) => one.peakMB),
            'MB',
            0,
          )} resident`,
        },
        ours.map((one) => one.peakMB),
      ),
    ];
  });
};

export const analyzing = async (bed: Bed): Promise<Figure[]> => {
  const all: Figure[] = [];
  for (const kind of KINDS) {
    bed.say(`analyze: ${kind}`);
    all.push(...(await ofKind(bed, kind)));
  }
  return all;
};

/** A bundle of 500 MB brought into a pod, verified there and unpacked, against `kubectl cp` of the same directory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { job as jobSchema } from '../../../schemas/job.ts';
import { runDirectory } from '../../../shared/rundir.ts';
import { median } from '../../../shared/statistics.ts';
import { tool } from '../bed.ts';
import { type Figure, figureOf, ratios, shown } from '../figure.ts';
import { interleaved, run, runForPeak } from '../process-run.ts';
import type { ClusterBed } from './cluster-bed.ts';
import { writeLargeBundle } from './large-bundle.ts';
import { runSleeper } from './sleeper.ts';

const ROW = 'delivery';
const CORES = ['--cpus', '2', '--node', 'node-1'];

interface Delivered {
  /** From the container's start until all of it is unpacked there, with the digest of the whole and of each file compared. */
  wallMs: number;
  /** The same until the session's first line: Node started, artifacts hashed again for the facts. */
  lineMs: number;
  peakMB: number;
}

/** One session; its delivery's part of the time. */
const delivered = async (bed: ClusterBed, bundle: string): Promise<Delivered> => {
  const path = await bed.laidDown([
    ...['--bundle', bundle, '--base-image', bed.images.base],
    ...['--turns', '50', '--rounds', '3', ...CORES],
  ]);
  const { peakMB } = await runForPeak([...tool('run-session'), '--run', path]);
  const { timeline } = runDirectory(path).json('job.json', jobSchema);
  const [first] = readFileSync(join(path, 'pod.log'), 'utf8').split('\n', 1);
  const at = (event: string): number => Date.parse(timeline.find((one) => one.event === event)!.at);
  const lineMs = Date.parse((JSON.parse(first!) as { at: string }).at) - at('started');
  return { wallMs: at('delivered') - at('started'), lineMs, peakMB };
};

/** `kubectl cp` into a pod that runs already. */
const copied = async (bed: ClusterBed, bundle: string): Promise<number> => {
  const pod = await runSleeper(bed);
  const { wallMs } = await run([...bed.kubectl, 'cp', bundle, `${pod.name}:/data/bundle`]);
  await pod.remove();
  return wallMs;
};

export const delivery = async (bed: ClusterBed): Promise<Figure[]> => {
  const bundle = join(bed.directory, 'bundle');
  const megabytes = (await writeLargeBundle(bundle)) / 1e6;
  const each = await interleaved<'ours' | 'kubectl', Delivered | number>(bed.repetitions, {
    ours: () => delivered(bed, bundle),
    kubectl: () => copied(bed, bundle),
  });
  const ours = each.ours as Delivered[];
  const kubectl = each.kubectl as number[];
  const rate = (times: number[]): string => `${((megabytes / median(times)) * 1000).toFixed(0)} MB/s`;
  const walls = ours.map((one) => one.wallMs);
  return [
    figureOf(
      {
        row: ROW,
        what: `speed of a bundle's delivery, verified and unpacked, against kubectl cp`,
        goal: { least: 1.5 },
        unit: '×',
        from: `${megabytes.toFixed(0)} MB: ${rate(walls)}, ${rate(ours.map((one) => one.lineMs))} to the session's first line; kubectl cp ${rate(kubectl)}`,
      },
      ratios(kubectl, walls),
    ),
    figureOf(
      {
        row: ROW,
        what: 'peak memory of the run-session that delivered it',
        goal: { most: 150 },
        unit: 'MB',
        from: `${shown(
          ours.map((one) => one.peakMB),
          'MB',
          0,
        )} resident, to the session's end`,
      },
      ours.map((one) => one.peakMB),
    ),
  ];
};

/** How long it takes from `run-session` to its session's first sample, against a bare Job of the same image. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../../shared/statistics.ts';
import { tool } from '../bed.ts';
import { type Figure, figureOf, ratios } from '../figure.ts';
import { interleaved, run } from '../process-run.ts';
import type { ClusterBed } from './cluster-bed.ts';

const ROW = 'submit';
const NODE = 'node-1';

/** Whether a file holds a word; it is looked at again and again while it grows. */
const holds = (path: string, word: string): boolean => {
  if (!existsSync(path)) return false;
  const fd = openSync(path, 'r');
  const bytes = Buffer.alloc(1 << 16);
  const got = readSync(fd, bytes, 0, bytes.length, 0);
  closeSync(fd);
  return bytes.toString('latin1', 0, got).includes(word);
};

/** From its start to the first sample in the directory; the session then ends by itself. */
const firstSample = async (path: string): Promise<number> => {
  const from = performance.now();
  let at: number | undefined;
  const ended = run([...tool('run-session'), '--run', path]).finally(() => (at ??= Number.NaN));
  // Told where it is awaited.
  ended.catch(() => undefined);
  while (at === undefined) {
    if (['pod.log.partial', 'pod.log'].some((name) => holds(join(path, name), '"t":"sample"')))
      at = performance.now() - from;
    else await Bun.sleep(5);
  }
  await ended;
  return at;
};

let jobs = 0;

/** `kubectl create job` and `kubectl wait`, as a script has them: until its pod is ready, or until the Job is complete. */
const bareJob = async (
  { kubectl, images }: ClusterBed,
  wait: string,
  command: readonly string[],
): Promise<number> => {
  const name = `bare-${++jobs}`;
  // A bare Job's pod is not admitted where sessions run: it does not keep to the restricted level.
  const bare = [...kubectl, '-n', 'default'];
  const created = await run([...bare, 'create', 'job', name, `--image=${images.session}`, '--', ...command]);
  const waited = await run([...bare, 'wait', '--timeout=60s', `--for=${wait}`, `job/${name}`]);
  await run([...bare, 'delete', 'job', name, '--wait', '--cascade=foreground', '--grace-period=0']);
  return created.wallMs + waited.wallMs;
};

export const submit = async (bed: ClusterBed): Promise<Figure[]> => {
  const one = `--reference true --candidate true --repeat 2`.split(' ');
  const profile = await run([...tool('profile'), ...one], { keep: true });
  await Bun.write(join(bed.directory, 'true.json'), profile.stdout);
  const words = ['--image', bed.images.session, '--node', NODE, '--cpus', '2', '--rounds', '3'];
  const each = await interleaved<'ours' | 'complete' | 'ready', number>(bed.repetitions, {
    ours: async () =>
      firstSample(await bed.laidDown([...words, '--profile', join(bed.directory, 'true.json')])),
    complete: () => bareJob(bed, 'condition=complete', ['node', '--version']),
    ready: () => bareJob(bed, 'jsonpath={.status.ready}=1', ['sleep', '600']),
  });
  const seconds = (times: number[]): string => `${(median(times) / 1000).toFixed(2)} s`;
  const asked = (other: 'complete' | 'ready', what: string): Figure =>
    figureOf(
      {
        row: ROW,
        what: `run-session to its first sample, against kubectl create job and kubectl wait until ${what}`,
        goal: { most: 1.3 },
        unit: '×',
        from: `${seconds(each.ours)}, kubectl ${seconds(each[other])}`,
      },
      ratios(each.ours, each[other]),
    );
  return [asked('complete', 'it is complete'), asked('ready', 'its pod is ready')];
};

/** Logs that the node rotated away while nobody read: the pod's own copy has them, in the pod or on a claim; without one the missing lines are named. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { RunDirectory } from '../../../shared/rundir.ts';
import { makeClaim } from '../claim.ts';
import { sized, small } from '../fault.ts';
import { restartKubelet } from '../faults.ts';
import { until } from '../processes.ts';
import { makeArtifacts } from '../session-image.ts';
import {
  type Bed,
  expectWhole,
  grants,
  jobOf,
  makeBed,
  planned,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from '../session-runs.ts';
import { admin, ownDirectory } from '../the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

const ROUNDS = 40;
const ROTATING = { containerLogMaxSize: '16Ki', containerLogMaxFiles: 2, containerLogMonitorInterval: '3s' };
const AS_BEFORE = {
  containerLogMaxSize: null,
  containerLogMaxFiles: null,
  containerLogMonitorInterval: null,
};

let bed: Bed;
let removeVolume: () => void;
beforeAll(async () => {
  bed = await makeBed('rotated', grants().get('k8sbench-bundle')!);
  await makeArtifacts(join(bed.directory, 'bundle'));
  removeVolume = await makeClaim(bed.namespace, 'results');
  await restartKubelet(ownDirectory!, 2, ROTATING);
}, 120_000);
afterAll(async () => {
  await restartKubelet(ownDirectory!, 2, AS_BEFORE);
  await bed.remove();
  removeVolume();
});

/** What the node still has of a session's log. */
const logOf = async (run: RunDirectory): Promise<string> => {
  const about = { namespace: bed.namespace, pod: jobOf(run).pod!.name, container: 'bench' };
  const parts: Uint8Array[] = [];
  for await (const part of admin.log(about, new AbortController().signal)) parts.push(part);
  return Buffer.concat(parts).toString();
};

/** A session whose runner is killed, and which goes on until its log's beginning is gone. */
const abandoned = async (words: string[], isDone: (run: RunDirectory) => Promise<boolean>) => {
  const run = await planned(bed, {
    words,
    rounds: ROUNDS,
    node: 'node-2',
    // Four of them side by side.
    change: (manifest) => sized(small(manifest), '400m'),
  });
  const first = start(bed, ['--run', run.name]);
  await untilEvent(run, 'measuring');
  first.kill('SIGKILL');
  await first.ended;
  await until(`the end of ${run.name}`, () => isDone(run), 180_000);
  await until('rotated', async () => !(await logOf(run)).includes('"t":"facts"'));
  return run;
};

const jobIsOver = async (run: RunDirectory): Promise<boolean> =>
  ((await admin.get<any>('jobs', { namespace: bed.namespace, name: run.name })).status.conditions ?? []).some(
    (one: any) => one.type === 'Complete',
  );

const noReaders = (): Promise<void> =>
  until('no Job that read the copy', async () =>
    (await admin.list<any>('jobs', { namespace: bed.namespace })).every(
      (one) => !one.metadata.name.startsWith('k8sbench-copy-'),
    ),
  );

const hasEnd = async (run: RunDirectory): Promise<boolean> => {
  const about = { namespace: bed.namespace, pod: jobOf(run).pod!.name, container: 'bench' };
  const command = ['sh', '-c', 'tail -n 1 /bundle/pod.log | head -c 10'];
  const said: string[] = [];
  await admin.exec({ ...about, command, stdout: (part) => said.push(Buffer.from(part).toString()) });
  return said.join('').includes('end');
};

/** They go on beside each other, without runners. */
let runs: Record<'bundle' | 'bundleClaim' | 'claim' | 'image', RunDirectory>;
beforeAll(async () => {
  const { base, session: image } = bed.images;
  const sent = ['--bundle', 'bundle', '--base-image', base];
  const [bundle, bundleClaim, claim, alone] = await Promise.all([
    abandoned(sent, hasEnd),
    abandoned([...sent, '--pvc', 'results'], jobIsOver),
    abandoned(['--image', image, '--pvc', 'results'], jobIsOver),
    abandoned(['--image', image], jobIsOver),
  ]);
  runs = { bundle, bundleClaim, claim, image: alone };
}, 300_000);

test('a bundle: the copy in the pod, which waits for it', async () => {
  expect(await session(bed, runs.bundle)).toMatchObject({ exit: 0 });
  await expectWhole(bed, runs.bundle, ROUNDS);
});

test.each([
  ['an image', 'claim'],
  ['a bundle, whose pod does not wait', 'bundleClaim'],
] as const)('%s with a claim: the copy on it, read by another pod', async (_, one) => {
  const second = await session(bed, runs[one]);
  expect(second).toMatchObject({ exit: 0 });
  expect(second.stderr).toContain("reading the pod's own copy");
  await expectWhole(bed, runs[one], ROUNDS);
  await noReaders();
});

test('an image without one: an error that names the lines', async () => {
  const second = await session(bed, runs.image);
  expect([second.exit, second.stdout]).toEqual([1, '']);
  expect(second.stderr).toMatch(
    /its log is not whole: lines are missing: seq \d+–\d+.*; the node rotated them away/,
  );
  await untilNothingIsLeft(bed, runs.image);
});

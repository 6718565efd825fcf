/**
 * Runners that stand still (SIGSTOP, a machine that sleeps) while their session goes on in the cluster, and go on themselves.
 * For 70 s, which is longer than anything here waits for a silent connection; K8SBENCH_TEST_STANDSTILL_S=600 for ten minutes.
 */
import { afterAll, beforeAll, expect } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunDirectory } from '../../shared/rundir.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { writeLargeBundle } from '../bench/cluster/large-bundle.ts';
import { kubectl, real, running, small } from './fault.ts';
import { bundleIn, bundlePlan } from './fault-table-bundle.ts';
import { lightProfile } from './light-profile.ts';
import {
  type Bed,
  expectWhole,
  grants,
  jobOf,
  makeBed,
  planned,
  type Planned,
  type Running,
  start,
  untilEvent,
  untilNothingIsLeft,
  untilSo,
} from './session-runs.ts';
import { sideBySide } from './side-by-side.ts';
import { admin, node1, node2 } from './the-cluster.ts';

const STANDSTILL_S = Number(process.env['K8SBENCH_TEST_STANDSTILL_S'] ?? 70);
/** What is measured while nobody looks goes on for a while after that. */
const LONGER_S = 20;
const ROUNDS = 200;

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('standstill', grants().get('k8sbench-bundle')!);
  const sample_s = (STANDSTILL_S + LONGER_S) / (3 * ROUNDS);
  writeFileSync(join(bed.directory, 'slow.json'), JSON.stringify(lightProfile(sample_s)));
}, 120_000);
afterAll(() => bed.remove());

/** Small enough to stand beside others. */
const beside = (plan: Planned, change: (spec: any) => void = () => undefined): Promise<RunDirectory> =>
  planned(bed, {
    ...plan,
    change: (manifest) => (real(small(manifest)), change(manifest.spec.template.spec)),
  });

const standStill = async (runner: Running): Promise<void> => {
  runner.kill('SIGSTOP');
  await Bun.sleep(STANDSTILL_S * 1000);
};

/** It goes on, and ends well; what it says from here on is given. */
const goOn = async (run: RunDirectory, runner: Running): Promise<string> => {
  const before = runner.said().length;
  runner.kill('SIGCONT');
  const ended = await runner.ended;
  expect(ended.stderr).not.toMatch(/fail|error/i);
  expect(ended).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
  return ended.stderr.slice(before);
};

const samplesSoFar = (run: RunDirectory): number =>
  run.has('pod.log.partial')
    ? readFileSync(run.file('pod.log.partial'), 'utf8').split('"t":"sample"').length - 1
    : 0;

const inPod = async (run: RunDirectory, script: string): Promise<boolean> => {
  const about = { namespace: bed.namespace, pod: jobOf(run).pod!.name, container: 'bench' };
  return (await admin.exec({ ...about, command: ['sh', '-c', script], stdout: () => undefined })) === 0;
};

const isComplete = async ({ name }: RunDirectory): Promise<boolean> =>
  ((await admin.get<any>('jobs', { namespace: bed.namespace, name })).status.conditions ?? []).some(
    (one: any) => one.type === 'Complete',
  );

const whileFollowing = async (): Promise<void> => {
  const run = await beside({ profile: join(bed.directory, 'slow.json'), rounds: ROUNDS });
  const runner = start(bed, ['--run', run.name]);
  await untilSo(run, 'some of its log', () => samplesSoFar(run) > 3);
  await standStill(runner);
  expect(await isComplete(run)).toBe(false);
  await goOn(run, runner);
  await expectWhole(bed, run, ROUNDS);
};

/** A session that says 8 MiB, less than a node keeps, while nobody reads them. */
const muchToSay = (spec: any): void => {
  const lines = 512;
  running(spec, '');
  spec.containers[0].command = [
    'node',
    '-e',
    `const hash = require('crypto').createHash('sha256');
let seq = 0;
const next = () => {
  if (seq === ${lines})
    return console.log(JSON.stringify({ t: 'end', seq, lines: seq, sha256: hash.digest('hex') }));
  const line = JSON.stringify({ t: 'sample', seq, x: String(seq % 10).repeat(16384) }) + '\\n';
  hash.update(line);
  process.stdout.write(line);
  seq += 1;
  setTimeout(next, ${((STANDSTILL_S + LONGER_S) * 1000) / lines});
};
next();`,
  ];
};

const whileMuchIsSaid = async (): Promise<void> => {
  const run = await beside({ node: node2 }, muchToSay);
  const runner = start(bed, ['--run', run.name]);
  await untilSo(run, 'some of its log', () => samplesSoFar(run) > 3);
  await standStill(runner);
  expect(await isComplete(run)).toBe(false);
  await goOn(run, runner);
  expect(samplesSoFar(run)).toBe(0);
  expect(readFileSync(run.file('pod.log'), 'utf8').split('"t":"sample"').length - 1).toBe(512);
  expect(await manifestProblems(run, [])).toEqual([]);
  await untilNothingIsLeft(bed, run);
};

const whileSending = async (): Promise<void> => {
  const large = join(bed.directory, 'large');
  if (!existsSync(large)) await writeLargeBundle(large);
  const run = await beside({ node: node2, ...bundlePlan(bed, large) }, (spec) => {
    // On the node's disk.
    spec.volumes.find((one: any) => one.name === 'bundle').emptyDir = {};
  });
  const runner = start(bed, ['--run', run.name]);
  await untilEvent(run, 'started');
  await untilSo(run, 'some of it', () =>
    inPod(run, '[ "$(cat /bundle/arriving.*/bin/* | wc -c)" -gt 10000000 ]').catch(() => false),
  );
  await standStill(runner);
  expect(await inPod(run, '[ -e /bundle/READY ]')).toBe(false);
  // The stream is alive: it goes on where it stood.
  expect(await goOn(run, runner)).not.toContain('sending the bundle again');
  await expectWhole(bed, run, 3);
};

/** Stopped a moment before its session ends. */
const beforeItsEnd = async (plan: Planned, endsItself: boolean): Promise<void> => {
  const rounds = 40;
  const run = await beside({ ...plan, rounds });
  const runner = start(bed, ['--run', run.name]);
  await untilSo(run, 'nearly all of its log', () => samplesSoFar(run) >= 3 * rounds - 12);
  await standStill(runner);
  expect(await isComplete(run)).toBe(endsItself);
  await goOn(run, runner);
  await expectWhole(bed, run, rounds);
};

/** What stood in the way when the runner looked last is gone when it looks again: nothing has stood unchanged for the settle time. */
const whileSomethingStandsInTheWay = async (): Promise<void> => {
  const name = 'comes-late';
  const run = await beside({ node: node1 }, (spec) => {
    spec.containers[0].envFrom = [{ configMapRef: { name } }];
  });
  const runner = start(bed, ['--run', run.name, '--settle', `${Math.round(STANDSTILL_S / 2)}s`]);
  await untilSo(run, 'that it waits', () => runner.said().includes(`configmap "${name}" not found`));
  // Late: watches that were open have ended long before, when the standstill is a long one.
  const passes = Bun.sleep(STANDSTILL_S * 600).then(() =>
    kubectl(['--namespace', bed.namespace, 'create', 'configmap', name]),
  );
  await standStill(runner);
  await passes;
  expect(await isComplete(run)).toBe(true);
  await goOn(run, runner);
  await expectWhole(bed, run, 3);
};

sideBySide(
  `a runner that stands still for ${STANDSTILL_S} s`,
  {
    'while it follows': whileFollowing,
    'while megabytes of log come': whileMuchIsSaid,
    'in the middle of sending a bundle': whileSending,
    'a moment before the end: the pod has ended long ago': () => beforeItsEnd({ node: node1 }, true),
    'a moment before the end, with a bundle: the pod lingers for it': async () =>
      beforeItsEnd({ node: node2, ...bundlePlan(bed, await bundleIn(bed)) }, false),
    'while something stands in its way, which passes': whileSomethingStandsInTheWay,
  },
  6,
  (STANDSTILL_S + 300) * 1000,
);

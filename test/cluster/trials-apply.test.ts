/** Jobs that the cluster has no room or no use for yet, and Jobs of others. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { until } from './processes.ts';
import { admin, kubeconfig, makeNamespace } from './the-cluster.ts';
import {
  type Fate,
  jobsOf,
  linesIn,
  makeTrialBed,
  podsOf,
  SAID,
  start,
  type TrialBed,
  trialRun,
  trialsTool,
} from './trial-runs.ts';

let bed: TrialBed;
beforeAll(async () => {
  bed = await makeTrialBed('trial-apply');
}, 120_000);
afterAll(() => bed?.remove());

const many = (count: number, more: Partial<Fate> = {}): Fate[] =>
  Array.from({ length: count }, (_, at) => ({ task: `task-${at}`, ...more }));

const within = (hard: Record<string, string>) =>
  admin.create<any>(
    'resourcequotas',
    { namespace: bed.namespace },
    { metadata: { name: 'few' }, spec: { hard } },
  );
const unbound = (quota: any) =>
  admin.delete('resourcequotas', { namespace: bed.namespace, name: 'few' }, quota.metadata.uid);

describe('a quota', () => {
  test('of pods: no more Jobs than get a pod, and all of them in the end', async () => {
    const quota = await within({ pods: '2' });
    const { run } = trialRun(bed, many(7, { gate: `sleep 3; ${SAID}` }));
    const applying = start(bed, ['apply', '--run', run.name, '--at-once', '4']);
    let most = 0;
    const done = applying.ended.then(() => true);
    while (!(await Promise.race([done, Bun.sleep(500).then(() => false)])))
      most = Math.max(
        most,
        (await podsOf(bed, run)).filter((one) => one.status.phase !== 'Succeeded').length,
      );
    expect(await applying.ended).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
    expect(applying.said()).toContain("the namespace's quota is used up");
    expect((await trialsTool(bed, 'collect', run)).exit).toBe(0);
    expect(linesIn(run).map((one) => one.reward)).toEqual(Array(7).fill(1));
    expect(most).toBeLessThanOrEqual(2);
    await unbound(quota);
  }, 240_000);

  test('of Jobs: waits until one is removed', async () => {
    const before = (await admin.list<any>('jobs', { namespace: bed.namespace })).length;
    const quota = await within({ 'count/jobs.batch': String(before + 2) });
    await until('that the quota counts', async () => {
      const { status } = await admin.get<any>('resourcequotas', { namespace: bed.namespace, name: 'few' });
      return status?.used?.['count/jobs.batch'] === String(before);
    });
    const { run, trials } = trialRun(bed, many(3));
    const applying = start(bed, ['apply', '--run', run.name]);
    await until('that it waits', () => applying.said().includes('no room for another Job'));
    await until('two ends', async () => (await jobsOf(bed, run)).every((one) => one.status?.succeeded));
    const [first] = await jobsOf(bed, run);
    expect((await trialsTool(bed, 'collect', run, '--no-wait')).stderr).toContain(
      `1 of 3 trials has no Job: '${trials.trials[2]!.job}'`,
    );
    await admin.delete('jobs', { namespace: bed.namespace, name: first.metadata.name }, first.metadata.uid);
    expect((await applying.ended).exit).toBe(0);
    expect((await trialsTool(bed, 'collect', run)).exit).toBe(0);
    expect(linesIn(run)).toHaveLength(3);
    // The removed Job's result was collected: it is not made again.
    expect((await jobsOf(bed, run)).map((one) => one.metadata.uid)).not.toContain(first.metadata.uid);
    expect(await jobsOf(bed, run)).toHaveLength(2);
    await unbound(quota);
  }, 240_000);
});

test('a Job of another run with the same name is left alone', async () => {
  const { run, trials } = trialRun(bed, many(2));
  const other = await admin.create<any>(
    'jobs',
    { namespace: bed.namespace },
    {
      metadata: { name: trials.trials[1]!.job, labels: { 'app.kubernetes.io/part-of': 'another-run' } },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'x' }] } },
      },
    },
  );
  const ended = await trialsTool(bed, 'apply', run);
  expect(ended).toMatchObject({ exit: 1, stdout: '' });
  expect(ended.stderr).toContain(`has a Job '${trials.trials[1]!.job}' that is not of run '${run.name}'`);
  const now = await admin.get<any>('jobs', { namespace: bed.namespace, name: trials.trials[1]!.job });
  // The Job controller writes its status; nobody else touches it.
  expect([now.metadata.uid, now.metadata.generation, now.metadata.labels]).toEqual([
    other.metadata.uid,
    other.metadata.generation,
    other.metadata.labels,
  ]);
  expect(JSON.stringify(now.metadata.managedFields)).not.toContain('k8sbench-trials"');
  // Nor is it taken for a trial's.
  const collected = await trialsTool(bed, 'collect', run);
  expect(collected.stderr).toContain(`1 of 2 trials has no Job: '${trials.trials[1]!.job}'`);
}, 120_000);

test('interrupted it says what is left, and goes on', async () => {
  const { run } = trialRun(bed, many(4, { gate: `sleep 5; ${SAID}` }));
  const first = start(bed, ['apply', '--run', run.name, '--at-once', '1']);
  await until('a Job', async () => (await jobsOf(bed, run)).length === 1);
  const second = await trialsTool(bed, 'apply', run);
  expect(second).toMatchObject({ exit: 1, stdout: '' });
  expect(second.stderr).toContain("another 'trials apply' submits the Jobs");
  first.kill('SIGINT');
  const ended = await first.ended;
  expect(ended).toMatchObject({ exit: 130, stdout: '' });
  expect(ended.stderr).toMatch(/interrupted: [12] Jobs submitted, [23] left; the same command goes on/);
  expect((await trialsTool(bed, 'apply', run)).exit).toBe(0);
  const collecting = start(bed, ['collect', '--run', run.name]);
  await Bun.sleep(1500);
  collecting.kill('SIGINT');
  expect(await collecting.ended).toMatchObject({ exit: 130, stdout: '' });
  expect((await trialsTool(bed, 'collect', run)).exit).toBe(0);
  expect(linesIn(run)).toHaveLength(4);
}, 120_000);

test('a namespace that refuses such pods ends it, with one Job made and no more', async () => {
  const strict = await makeNamespace('strict', { 'pod-security.kubernetes.io/enforce': 'restricted' });
  const elsewhere = { ...bed, namespace: strict.name };
  try {
    const { run } = trialRun(elsewhere, many(3));
    const admins = { ...elsewhere, kubeconfig };
    const ended = await trialsTool(admins, 'apply', run, '--at-once', '1', '--settle', '5s');
    expect(ended).toMatchObject({ exit: 1, stdout: '' });
    expect(ended.stderr).toContain("the namespace's Pod Security level refuses its pod");
    expect(await jobsOf(elsewhere, run)).toHaveLength(1);
    const collected = await trialsTool(admins, 'collect', run, '--settle', '5s');
    expect(collected.exit).toBe(1);
    expect(linesIn(run)[0]!.error).toContain("the namespace's Pod Security level refuses its pod");
  } finally {
    await strict.remove();
  }
}, 120_000);

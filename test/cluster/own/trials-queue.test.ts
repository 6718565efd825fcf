/** Kueue's queues: Jobs are made for the namespace's, and wait. Kueue itself is not there: the test lets them in. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { formatYaml } from '../../../shared/yaml-format.ts';
import { kubeBinary, run as runProgram } from '../kube-binary.ts';
import { until } from '../processes.ts';
import { admin, kubeconfig } from '../the-cluster.ts';
import {
  type Fate,
  jobsOf,
  linesIn,
  makeTrialBed,
  start,
  type TrialBed,
  trialRun,
  trialsTool,
} from '../trial-runs.ts';

let bed: TrialBed;
beforeAll(async () => {
  bed = await makeTrialBed('trial-queue');
}, 120_000);
afterAll(() => bed?.remove());

const many = (count: number): Fate[] => Array.from({ length: count }, (_, at) => ({ task: `task-${at}` }));

/** As much of Kueue as its clients see: the kind of its queues. */
const QUEUES = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'localqueues.kueue.x-k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group: 'kueue.x-k8s.io',
    scope: 'Namespaced',
    names: { plural: 'localqueues', singular: 'localqueue', kind: 'LocalQueue', listKind: 'LocalQueueList' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const kubectl = (words: string[], input = ''): string =>
  runProgram([kubeBinary(), 'kubectl', '--kubeconfig', kubeconfig, ...words], { input });

const makeQueue = (name: string): void => {
  const queue = {
    apiVersion: 'kueue.x-k8s.io/v1beta1',
    kind: 'LocalQueue',
    metadata: { name, namespace: bed.namespace },
    spec: { clusterQueue: 'all' },
  };
  kubectl(['apply', '-f', '-'], formatYaml(queue));
};

test('with Kueue Jobs wait in its queue; the test lets them in', async () => {
  const words = ['--at-once', '2'];
  const { run } = trialRun(bed, many(2));
  const without = await trialsTool(bed, 'apply', run, '--queue', 'a');
  expect([without.exit, without.stderr.includes('the cluster has no Kueue')]).toEqual([2, true]);
  kubectl(['apply', '-f', '-'], formatYaml(QUEUES));
  try {
    await until('the kind', () => kubectl(['api-resources', '-o', 'name']).includes('localqueues'));
    await Bun.sleep(1000);
    makeQueue('a');
    const unknown = await trialsTool(bed, 'apply', run, '--queue', 'b');
    expect(unknown.stderr).toContain("has no such queue, it has 'a'");
    const applied = await trialsTool(bed, 'apply', run, ...words);
    expect(applied.exit).toBe(0);
    expect(applied.stderr).toContain("Jobs wait in Kueue's queue 'a'");
    const jobs = await jobsOf(bed, run);
    expect(jobs.map((one) => [one.metadata.labels['kueue.x-k8s.io/queue-name'], one.spec.suspend])).toEqual([
      ['a', true],
      ['a', true],
    ]);
    const collecting = start(bed, ['collect', '--run', run.name]);
    await Bun.sleep(3000);
    expect(linesIn(run)).toEqual([]);
    for (const { metadata } of jobs)
      await admin.patch(
        'jobs',
        { namespace: bed.namespace, name: metadata.name },
        { spec: { suspend: false } },
      );
    expect((await collecting.ended).exit).toBe(0);
    expect(linesIn(run)).toHaveLength(2);
    makeQueue('b');
    const other = trialRun(bed, many(1)).run;
    expect((await trialsTool(bed, 'apply', other)).stderr).toContain("choose with '--queue NAME'");
    expect((await trialsTool(bed, 'apply', other, '--queue', 'none')).exit).toBe(0);
    expect((await jobsOf(bed, other))[0].spec.suspend).toBe(false);
  } finally {
    kubectl(['delete', 'crd', 'localqueues.kueue.x-k8s.io']);
  }
}, 180_000);

import { expect, test } from 'bun:test';
import { inventory, inventoryTable, type Listed } from './inventory.ts';
import type { JobObject, Pod } from './objects.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const job = (name: string, seconds: number, condition?: string): JobObject => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: ago(seconds) },
  status: condition === undefined ? {} : { conditions: [{ type: condition, status: 'True' }] },
});
const pod = (of: string, phase: string, status: object = {}, metadata: object = {}): Pod =>
  ({
    metadata: { name: 'p', uid: 'p', labels: { 'app.kubernetes.io/instance': of }, ...metadata },
    spec: { nodeName: 'node-1', containers: [{ name: 'bench' }] },
    status: { phase, ...status },
  }) as unknown as Pod;
const runs = { containerStatuses: [{ name: 'bench', state: { running: {} } }] };
const ready = (status: string): object => ({ conditions: [{ type: 'Ready', status }], ...runs });
const deleted = (seconds: number): object => ({
  deletionTimestamp: ago(seconds),
  deletionGracePeriodSeconds: 30,
});

test.each<[string, JobObject, Pod | undefined, Listed['state']]>([
  ['its Job is complete', job('r', 900, 'Complete'), pod('r', 'Succeeded'), 'done, not collected'],
  ['complete, and its pod is gone', job('r', 900, 'Complete'), undefined, 'done, not collected'],
  ['its pod has just ended', job('r', 900), pod('r', 'Succeeded'), 'done, not collected'],
  ['its Job has failed', job('r', 900, 'Failed'), undefined, 'failed'],
  ['failed, its pod still there', job('r', 900, 'Failed'), pod('r', 'Running', ready('True')), 'failed'],
  ['its pod has just failed', job('r', 900), pod('r', 'Failed'), 'failed'],
  ['it runs', job('r', 900), pod('r', 'Running', ready('True')), 'running'],
  ['it waits for a node', job('r', 900), pod('r', 'Pending'), 'waiting'],
  ['its pod is not made yet', job('r', 59), undefined, 'waiting'],
  ['no pod was made in a minute', job('r', 61), undefined, 'lost'],
  ['its node is not heard of', job('r', 900), pod('r', 'Running', ready('False')), 'lost'],
  ['its pod is being deleted', job('r', 900), pod('r', 'Running', ready('True'), deleted(20)), 'running'],
  ['nobody confirms its end', job('r', 900), pod('r', 'Running', ready('True'), deleted(61)), 'lost'],
  ["another run's pod", job('r', 61), pod('s', 'Running', ready('True')), 'lost'],
])('%s', (_, one, its, state) =>
  expect(inventory([one], its ? [its] : [], NOW).map((run) => run.state)).toEqual([state]),
);

test('the oldest first; node and age are shown', () => {
  const jobs = [job('b', 5), job('a', 5), job('c', 7200, 'Complete')];
  const listed = inventory(jobs, [pod('a', 'Running', ready('True'))], NOW);
  expect(listed).toEqual([
    { name: 'c', state: 'done, not collected', age_s: 7200 },
    { name: 'a', state: 'running', node: 'node-1', age_s: 5 },
    { name: 'b', state: 'waiting', age_s: 5 },
  ]);
  expect(inventoryTable(listed).split('\n')[0]).toMatch(/^run +state +node +age$/);
  expect(inventoryTable(listed)).toMatch(/^a +running +node-1 +5 s$/m);
});

/** cluster.json of a Node as clouds write it, by a fake: no test cluster has one. */
import { expect, test } from 'bun:test';
import { cluster as clusterSchema } from '../../../schemas/cluster.ts';
import { ApiError, type Cluster } from '../../../shared/kubernetes.ts';
import { problemsOf } from '../../../shared/read.ts';
import type { Task } from '../task.ts';
import { clusterFacts } from './node-facts.ts';
import type { Pod } from './objects.ts';

const SECRET = 'only-for-us';
const NODE = {
  metadata: {
    name: 'ip-10-0-0-1',
    uid: SECRET,
    labels: {
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': 'm7i.metal',
      'topology.kubernetes.io/zone': 'z1',
      'kubernetes.io/hostname': SECRET,
      'example.com/owner': SECRET,
    },
    annotations: { 'example.com/token': SECRET },
    managedFields: [{ manager: SECRET }],
  },
  spec: {
    providerID: `aws:///z1/${SECRET}`,
    podCIDR: SECRET,
    taints: [{ key: 'dedicated', value: SECRET, effect: 'NoSchedule' }],
  },
  status: {
    addresses: [{ type: 'InternalIP', address: SECRET }],
    nodeInfo: { architecture: 'amd64', kernelVersion: '6.1', machineID: SECRET, systemUUID: SECRET },
    capacity: { cpu: '96', memory: '1Gi', 'example.com/license': SECRET },
    allocatable: { cpu: '95' },
    images: [{ names: [SECRET] }],
  },
};
const task = { about: { delivery: 'image' } } as unknown as Task;
const pod = {
  metadata: { name: 'p' },
  spec: { nodeName: NODE.metadata.name, containers: [{ name: 'bench', image: 'a@sha256:b' }] },
  status: {},
} as unknown as Pod;
const forbidden = new ApiError('no', { code: 403, reason: 'Forbidden', detail: '' });

test('of a Node only what is listed; taints without their values', async () => {
  const cluster = {
    version: async () => ({ major: 1, minor: 34, gitVersion: 'v1.34.4' }),
    get: async () => NODE,
  } as unknown as Cluster;
  const facts = await clusterFacts(task, cluster, pod, false);
  expect(JSON.stringify(facts)).not.toContain(SECRET);
  expect(facts.node).toEqual({
    name: 'ip-10-0-0-1',
    labels: {
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': 'm7i.metal',
      'topology.kubernetes.io/zone': 'z1',
    },
    info: { architecture: 'amd64', kernelVersion: '6.1' },
    capacity: { cpu: '96', memory: '1Gi' },
    allocatable: { cpu: '95' },
    taints: [{ key: 'dedicated', effect: 'NoSchedule' }],
  });
  expect(problemsOf(clusterSchema, { value: facts }, 'facts')).toEqual([]);
});

test('what may not be read is left out, with the reason; the kubelet is asked only when that is wanted', async () => {
  const asked: string[] = [];
  const cluster = {
    version: async () => Promise.reject(forbidden),
    get: async (resource: string, { subresource = '' }) => {
      asked.push(`${resource}/${subresource}`);
      throw forbidden;
    },
  } as unknown as Cluster;
  const silent = await clusterFacts(task, cluster, pod, false);
  expect([silent.missing, silent.node]).toEqual([
    ['server version: not allowed', 'node: not allowed'],
    { name: 'ip-10-0-0-1' },
  ]);
  expect(asked.splice(0)).toEqual(['nodes/']);
  const wanted = await clusterFacts(task, cluster, pod, true);
  expect(wanted.missing.at(-1)).toBe('kubelet configuration: not allowed');
  expect(asked).toEqual(['nodes/', 'nodes/proxy/configz']);
});

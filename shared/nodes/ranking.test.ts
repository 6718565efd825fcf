import { describe, expect, test } from 'bun:test';
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { problemsOf } from '../read.ts';
import type { Node, Pod } from './objects.ts';
import { chooseCandidates, chooseListed, type Wanted } from './ranking.ts';
import { addNode, addPod, emptyTally, type Tally } from './tally.ts';

interface Change {
  labels?: Record<string, string>;
  spec?: Node['spec'];
  allocatable?: Record<string, string>;
  ready?: string;
  info?: object;
}
const node = (
  name: string,
  cpu = '4',
  { labels, spec, allocatable, ready = 'True', info }: Change = {},
): Node => ({
  metadata: { name, labels: labels ?? { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
  spec: spec ?? {},
  status: {
    allocatable: { cpu, memory: '16Gi', pods: '110', ...allocatable },
    conditions: [
      { type: 'MemoryPressure', status: 'False' },
      { type: 'Ready', status: ready },
    ],
    ...(info ? { nodeInfo: info } : {}),
  },
});
const pod = (nodeName: string, cpu: string, memory = '0', namespace = 'team'): Pod => ({
  metadata: { name: 'p', namespace },
  spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] },
  status: { phase: 'Running' },
});
const tallyOf = (nodes: Node[], pods: Pod[] = []): Tally => {
  const tally = emptyTally();
  for (const one of nodes) addNode(tally, one);
  for (const one of pods) addPod(tally, one);
  return tally;
};
const wanted: Wanted = { cpus: 2, memory: '8Gi', selector: {}, tolerations: [], count: 1 };
const choose = (nodes: Node[], pods: Pod[] = [], more: Partial<Wanted> = {}) =>
  chooseListed(tallyOf(nodes, pods), 'cluster', { ...wanted, ...more });

describe('order', () => {
  test('free CPU, then free memory, then name; those that can not be used last', () => {
    const picked = choose(
      [
        node('e', '64', { spec: { unschedulable: true } }),
        node('d', '3'),
        node('c', '4'),
        node('b', '4', { allocatable: { memory: '32Gi' } }),
        node('a', '4'),
        node('f', '8'),
      ],
      [pod('f', '3500m'), pod('f', '0.6', '1Gi')],
    );
    expect(picked.nodes.map((one) => one.name)).toEqual(['b', 'a', 'c', 'f', 'd', 'e']);
    expect(picked.chosen).toEqual(['b']);
    expect(picked.nodes[3]).toEqual({
      name: 'f',
      freeCpu: 3.9,
      freeMemory: 15 * 2 ** 30,
      allocatableCpu: 8,
      pods: 2,
    });
    expect(problemsOf(nodesSchema, { value: picked }, 'nodes')).toEqual([]);
  });

  test('names in the order of their bytes, capitals and digits as they come', () =>
    expect(
      choose([node('node-10'), node('node-9'), node('node-1'), node('a.b')]).nodes.map((one) => one.name),
    ).toEqual(['a.b', 'node-1', 'node-10', 'node-9']));
});

describe('a node is left out when it', () => {
  const linux = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
  test.each<[string, Node, Partial<Wanted>, string]>([
    ['is not ready', node('x', '4', { ready: 'False' }), {}, 'not ready'],
    ['is not known to be ready', node('x', '4', { ready: 'Unknown' }), {}, 'not ready'],
    ['is cordoned', node('x', '4', { spec: { unschedulable: true } }), {}, 'cordoned'],
    ['runs Windows', node('x', '4', { labels: { 'kubernetes.io/os': 'windows' } }), {}, 'runs windows'],
    [
      'is of another architecture',
      node('x', '4', { labels: { ...linux, 'kubernetes.io/arch': 'arm64' } }),
      { arch: 'amd64' },
      'is arm64, not amd64',
    ],
    ['lacks a label', node('x'), { selector: { pool: 'bench' } }, 'has no label pool, not pool=bench'],
    [
      'has another value of it',
      node('x', '4', { labels: { ...linux, pool: 'web' } }),
      { selector: { pool: 'bench' } },
      'has pool=web, not pool=bench',
    ],
    [
      'has a taint',
      node('x', '4', { spec: { taints: [{ key: 'a', value: 'b', effect: 'NoExecute' }] } }),
      {},
      'taint a=b:NoExecute',
    ],
    ['has too little CPU', node('x', '1999m'), {}, '1.999 of 2 CPUs free'],
    [
      'has too little memory',
      node('x', '4', { allocatable: { memory: '8191Mi' } }),
      {},
      '7.999Gi of 8Gi memory free',
    ],
    [
      'says nothing of its size',
      { metadata: { name: 'x' } },
      {},
      'not ready; not known to run Linux; 0 of 2 CPUs free; 0Gi of 8Gi memory free',
    ],
    ['takes no more pods', node('x', '4', { allocatable: { pods: '0' } }), {}, 'takes 0 pods and has 0'],
    [
      'has several reasons',
      node('x', '1', { spec: { unschedulable: true } }),
      {},
      'cordoned; 1 of 2 CPUs free',
    ],
  ])('%s', (_, one, more, skip) => {
    const picked = choose([one, node('good')], [], more.selector ? { ...more, count: 0 } : more);
    expect(picked.nodes.find(({ name }) => name === 'x')?.skip).toBe(skip);
    expect(() => choose([one], [], more)).toThrow(`'x': ${skip}`);
  });

  test.each<[string, Node, Partial<Wanted>]>([
    ['exactly enough', node('x', '2', { allocatable: { memory: '8Gi' } }), {}],
    [
      'any architecture when none is asked for',
      node('x', '4', { labels: { ...linux, 'kubernetes.io/arch': 'riscv64' } }),
      {},
    ],
    [
      'system and architecture without labels',
      node('x', '4', { labels: {}, info: { operatingSystem: 'linux', architecture: 'arm64' } }),
      { arch: 'arm64' },
    ],
    ['the label', node('x', '4', { labels: { ...linux, pool: 'bench' } }), { selector: { pool: 'bench' } }],
    [
      'tolerated taints',
      node('x', '4', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      { tolerations: [{ operator: 'Exists' }] },
    ],
    [
      'a taint that only asks',
      node('x', '4', { spec: { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] } }),
      {},
    ],
  ])('but not for %s', (_, one, more) => expect(choose([one], [], more).chosen).toEqual(['x']));
});

describe('candidates', () => {
  test('are the only ones considered, in the order of the ranking', () => {
    const nodes = [node('a', '64'), node('b', '8'), node('c', '16')];
    const picked = choose(nodes, [], { candidates: ['b', 'c'], count: 2 });
    expect(picked.nodes.map((one) => one.name)).toEqual(['c', 'b']);
    expect(picked.chosen).toEqual(['c', 'b']);
  });

  test('that are no nodes are errors, all of them', () =>
    expect(() => choose([node('a')], [], { candidates: ['a', 'x', 'y'] })).toThrow(
      "'x' is not a node of this cluster; correct '--nodes'\n'y' is not a node",
    ));

  test('to run on exactly stay in their order, and are warned about', () => {
    const picked = choose([node('a', '8'), node('b', '64'), node('c', '1')], [], {
      candidates: ['c', 'a', 'b'],
      count: 3,
      exactly: true,
    });
    expect(picked.chosen).toEqual(['c', 'a', 'b']);
    expect(picked.warnings).toEqual(["'c' can't be used as it is now: 1 of 2 CPUs free"]);
  });

  test('are all there is when nodes can not be listed: by requests, then as given', () => {
    const tally = tallyOf([], [pod('b', '1'), pod('c', '1'), pod('a', '2'), pod('elsewhere', '5')]);
    const picked = chooseCandidates(tally, { ...wanted, candidates: ['a', 'd', 'c', 'b'], count: 2 }, 'team');
    expect(picked).toEqual({
      basis: 'candidates',
      nodes: [
        { name: 'd', freeCpu: null, freeMemory: null, allocatableCpu: null, requestedCpu: 0, pods: 0 },
        { name: 'c', freeCpu: null, freeMemory: null, allocatableCpu: null, requestedCpu: 1, pods: 1 },
        { name: 'b', freeCpu: null, freeMemory: null, allocatableCpu: null, requestedCpu: 1, pods: 1 },
        { name: 'a', freeCpu: null, freeMemory: null, allocatableCpu: null, requestedCpu: 2, pods: 1 },
      ],
      chosen: ['d', 'c'],
      warnings: [expect.stringContaining("by the requests of namespace 'team' alone")],
    });
    expect(() => chooseCandidates(tally, wanted, 'team')).toThrow("name candidates with '--nodes a,b,…'");
    expect(() => chooseCandidates(tally, { ...wanted, candidates: ['a'], count: 2 }, 'team')).toThrow(
      '2 nodes are needed, and 1 are named',
    );
  });
});

describe('warnings', () => {
  test('of a namespace alone', () =>
    expect(chooseListed(tallyOf([node('a')]), 'namespace', wanted, 'team').warnings).toEqual([
      "the account can list pods of namespace 'team' only: others' requests are not counted, so free CPU and memory are upper bounds",
    ]));

  test.each<[string, Record<string, string>, string | undefined]>([
    ['eks', { 'eks.amazonaws.com/capacityType': 'SPOT' }, 'spot'],
    ['eks on demand', { 'eks.amazonaws.com/capacityType': 'ON_DEMAND' }, undefined],
    ['karpenter', { 'karpenter.sh/capacity-type': 'spot' }, 'spot'],
    ['gke', { 'cloud.google.com/gke-preemptible': 'true' }, 'preemptible'],
    ['gke, not', { 'cloud.google.com/gke-spot': 'false' }, undefined],
    ['aks', { 'kubernetes.azure.com/scalesetpriority': 'spot' }, 'spot'],
    ['openshift', { 'machine.openshift.io/interruptible-instance': '' }, 'interruptible'],
    ['a name that only sounds like it', { 'example.com/spot': 'true' }, undefined],
  ])('of %s', (_, labels, word) => {
    const all = { 'kubernetes.io/os': 'linux', ...labels };
    const picked = choose([
      node('a', '4', { labels: all }),
      node('b', '2', { labels: { 'kubernetes.io/os': 'linux', 'karpenter.sh/capacity-type': 'spot' } }),
    ]);
    expect(picked.warnings).toEqual(
      word ? [`'a' is a ${word} node: it may be taken away during the session`] : [],
    );
  });

  test('of a taint that is tolerated for less than the deadline', () => {
    const tainted = node('a', '4', { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
    const tolerations = [{ key: 'k', operator: 'Exists', tolerationSeconds: 300 }] as const;
    expect(choose([tainted], [], { tolerations, deadline_s: 3600 }).warnings[0]).toContain(
      'tolerated for 300 s only',
    );
    expect(choose([tainted], [], { tolerations, deadline_s: 200 }).warnings).toEqual([]);
  });
});

test('too few: the commonest reasons first, with how many nodes have each', () => {
  const many = Array.from({ length: 30 }, (_, at) => node(`n${at}`, '4', { spec: { unschedulable: true } }));
  expect(() => choose([node('small', '1'), ...many, node('good')], [], { count: 2 })).toThrow(
    /^1 of 32 nodes can be used, and 2 are needed; .*\n30 nodes, 'n0' one of them: cordoned\n'small': 1 of 2 CPUs free$/,
  );
});

/** What pick-nodes says is free, against the scheduler and the kubelet: a pod of just that much gets in, and one of a little more does not. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Nodes } from '../../../schemas/nodes.ts';
import { main } from '../../../tools/pick-nodes/main.ts';
import { runTool } from '../../outside.ts';
import { kubectl } from '../fault.ts';
import { until } from '../processes.ts';
import { admin, image, kubeconfig, makeNamespace, node2 } from '../the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let namespace: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ name: namespace, remove } = await makeNamespace('room'));
  await until(`nobody else on ${node2}`, async () => (await podsThere()).length === 0);
});
afterAll(() => remove());

const podsThere = (): Promise<any[]> => admin.list<any>('pods', { fieldSelector: `spec.nodeName=${node2}` });
const get = (name: string): Promise<any> => admin.get<any>('pods', { namespace, name });
const conditionOf = (pod: any, type: string): any =>
  (pod.status.conditions ?? []).find((one: any) => one.type === type);

type Requests = { cpu?: string; memory?: string };
const asks = (requests: Requests) => ({ resources: { requests } });
const container = (name: string, requests: Requests | undefined, command = ['sleep', '600']) => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command,
  ...(requests ? asks(requests) : {}),
});
const PLAIN: Requests = { cpu: '100m', memory: '32Mi' };

const create = (name: string, spec: object): Promise<unknown> =>
  admin.create(
    'pods',
    { namespace },
    {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        nodeSelector: { 'kubernetes.io/hostname': node2 },
        containers: [container('main', PLAIN)],
        ...spec,
      },
    },
  );
const untilRunning = (name: string): Promise<void> =>
  until(`pod ${name}`, async () => {
    const { status } = await get(name);
    if (status.phase === 'Failed') throw new Error(`pod ${name}: ${status.reason}: ${status.message}`);
    return status.phase === 'Running';
  });
const untilAllGone = async (): Promise<void> => {
  for (const { metadata } of await admin.list<any>('pods', { namespace }))
    await admin.delete('pods', { namespace, name: metadata.name }, metadata.uid, { graceSeconds: 0 });
  await until('no pods', async () => (await admin.list('pods', { namespace })).length === 0);
};

/** What is free on the node, by pick-nodes: whole milli-CPUs and bytes. */
const freeNow = async (): Promise<{ cpu_m: number; memory: number }> => {
  const words = ['--kubeconfig', kubeconfig, '--cpus', '1', '--memory', '1Mi', '--json'];
  const { stdout, stderr } = await runTool(main, words, { env: {} });
  if (stdout === '') throw new Error(stderr);
  const row = (JSON.parse(stdout) as Nodes).nodes.find((one) => one.name === node2)!;
  return { cpu_m: Math.round(row.freeCpu! * 1000), memory: row.freeMemory! };
};

/** Asks the scheduler for so much. */
const probe = (name: string, requests: Requests): Promise<unknown> =>
  create(name, { containers: [container('main', requests)] });
const expectRefused = async (name: string, resource: 'cpu' | 'memory'): Promise<void> => {
  let said: any;
  await until(`what the scheduler says of ${name}`, async () => {
    said = conditionOf(await get(name), 'PodScheduled');
    return said !== undefined && (said.status === 'True' || said.message !== undefined);
  });
  expect(said).toMatchObject({ status: 'False', reason: 'Unschedulable' });
  expect(said.message).toContain(`Insufficient ${resource}`);
};

/** Resizes the neighbour in place, and waits for what becomes of it. */
const resize = async (cpu: string, becomes: (pod: any) => boolean): Promise<void> => {
  const patch = { spec: { containers: [{ name: 'main', ...asks({ ...PLAIN, cpu }) }] } };
  kubectl([
    ...['--namespace', namespace, 'patch', 'pod', 'neighbour', '--subresource', 'resize'],
    ...['--patch', JSON.stringify(patch)],
  ]);
  await until(`a resize to ${cpu}`, async () => becomes(await get('neighbour')));
};
const has = (cpu: string) => (pod: any) => {
  const [status] = pod.status.containerStatuses;
  return status.resources?.requests?.cpu === cpu && status.allocatedResources?.cpu === cpu;
};
const pending = (reason: string) => (pod: any) => conditionOf(pod, 'PodResizePending')?.reason === reason;

interface Neighbour {
  spec?: object;
  /** What happens once it runs. */
  once?(): Promise<void>;
  /** What it takes, milli-CPUs. */
  takes: number;
}

const NEIGHBOURS: Readonly<Record<string, Neighbour>> = {
  'a plain pod': { takes: 100 },
  'an init container that needed more': {
    spec: { initContainers: [container('init', { cpu: '300m' }, ['true'])] },
    takes: 300,
  },
  'a native sidecar, and what was started beside it': {
    spec: {
      initContainers: [
        { ...container('sidecar', { cpu: '200m' }), restartPolicy: 'Always' },
        container('init', { cpu: '250m' }, ['true']),
      ],
    },
    takes: 450,
  },
  'resources of a whole pod': {
    spec: {
      ...asks({ cpu: '350m', memory: '100Mi' }),
      containers: [container('main', PLAIN), container('other', undefined)],
    },
    takes: 350,
  },
  'a pod that was made larger in place': { once: () => resize('300m', has('300m')), takes: 300 },
  'a pod that was made smaller in place': { once: () => resize('50m', has('50m')), takes: 50 },
  'a pod that can never be made so large': { once: () => resize('64', pending('Infeasible')), takes: 100 },
};

test.each(Object.entries(NEIGHBOURS))('beside %s', async (_, { spec, once, takes }) => {
  const before = await freeNow();
  await create('neighbour', spec ?? {});
  await untilRunning('neighbour');
  await once?.();
  const free = await freeNow();
  expect(before.cpu_m - free.cpu_m).toBe(takes);
  await probe('more-cpu', { cpu: `${free.cpu_m + 1}m` });
  await probe('more-memory', { memory: String(free.memory + 1) });
  await expectRefused('more-cpu', 'cpu');
  await expectRefused('more-memory', 'memory');
  // Last: beside it, nothing gets in.
  await probe('just', { cpu: `${free.cpu_m}m`, memory: String(free.memory) });
  await untilRunning('just');
  await untilAllGone();
});

test('beside a pod that waits to be made larger nothing is free', async () => {
  const { cpu_m } = await freeNow();
  await create('neighbour', {});
  await create('other', {});
  await untilRunning('neighbour');
  await untilRunning('other');
  await resize(`${cpu_m}m`, pending('Deferred'));
  expect((await freeNow()).cpu_m).toBeLessThanOrEqual(0);
  await probe('more-cpu', { cpu: '1m' });
  await expectRefused('more-cpu', 'cpu');
  await untilAllGone();
});

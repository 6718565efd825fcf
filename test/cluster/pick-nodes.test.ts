/** pick-nodes against the API server: as three accounts that may list ever less, on nodes with taints, cordons and pods. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Nodes } from '../../schemas/nodes.ts';
import type { KubernetesObject } from '../../shared/kubernetes.ts';
import { readKubeconfig } from '../../shared/kubernetes/kubeconfig.ts';
import { main } from '../../tools/pick-nodes/main.ts';
import { runTool } from '../outside.ts';
import { admin, kubeconfig, makeNamespace, makeUser, runPod, scratch, untilAllowed } from './the-cluster.ts';

const files = scratch();
let namespace: Awaited<ReturnType<typeof makeNamespace>>;
const made: { resource: 'clusterroles' | 'clusterrolebindings' | 'nodes'; object: KubernetesObject }[] = [];
const make = async (resource: (typeof made)[number]['resource'], body: object): Promise<void> => {
  made.push({ resource, object: await admin.create<KubernetesObject>(resource, {}, body) });
};

const own = readKubeconfig({ kubeconfig, cwd: '/', env: {} })!;
const configFor = (token: string): string => {
  const path = join(files.path, `${token.slice(-20)}.kubeconfig`);
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [
        {
          name: 'c',
          cluster: {
            server: own.server,
            'certificate-authority-data': Buffer.from(own.ca ?? '').toString('base64'),
          },
        },
      ],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: namespace.name } }],
      'current-context': 'x',
    }),
  );
  return path;
};
/** A user who may list pods of the namespace, and these of the cluster. */
const userWith = async (name: string, resources: string[]): Promise<string> => {
  const token = await makeUser(namespace.name, name, [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  ]);
  if (resources.length > 0) {
    const full = `${namespace.name}-${name}`;
    await make('clusterroles', {
      metadata: { name: full },
      rules: [{ apiGroups: [''], resources, verbs: ['list'] }],
    });
    await make('clusterrolebindings', {
      metadata: { name: full },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: full },
      subjects: [{ kind: 'ServiceAccount', name, namespace: namespace.name }],
    });
    for (const resource of resources) await untilAllowed(token, { verb: 'list', resource });
  }
  return configFor(token);
};
const pick = async (config: string, ...args: string[]) => {
  const done = await runTool(
    main,
    ['--kubeconfig', config, '--cpus', '1', '--memory', '1Mi', '--json', ...args],
    { cwd: files.path, env: {} },
  );
  return { ...done, nodes: (done.stdout === '' ? undefined : JSON.parse(done.stdout)) as Nodes };
};

/** A node that nobody runs, on a cluster whose scheduler and controllers leave it alone: its labels and size are ours. */
const fakeNode = (name: string, spec: object = {}): Promise<void> =>
  make('nodes', {
    metadata: {
      name,
      labels: {
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'k8sbench.test/pool': namespace.name,
        'karpenter.sh/capacity-type': 'spot',
      },
    },
    spec,
    status: {
      allocatable: { cpu: '64', memory: '64Gi', pods: '10' },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Test',
          message: '',
          lastHeartbeatTime: new Date().toISOString(),
          lastTransitionTime: new Date().toISOString(),
        },
      ],
    },
  });

beforeAll(async () => {
  namespace = await makeNamespace('pick');
});
afterAll(async () => {
  for (const { resource, object } of made)
    await admin.delete(resource, { name: object.metadata.name }, object.metadata.uid);
  files.remove();
  await namespace.remove();
});

describe('what the account may list decides the basis', () => {
  test('nodes and pods everywhere', async () => {
    const { exit, nodes } = await pick(await userWith('all', ['nodes', 'pods']));
    expect([exit, nodes.basis, nodes.warnings.filter((one) => one.includes('upper bound'))]).toEqual([
      0,
      'cluster',
      [],
    ]);
    expect(nodes.chosen).toHaveLength(1);
  });

  test('nodes, and pods of its namespace', async () => {
    const { exit, nodes } = await pick(await userWith('some', ['nodes']));
    expect([exit, nodes.basis]).toEqual([0, 'namespace']);
    expect(nodes.warnings[0]).toContain(`pods of namespace '${namespace.name}' only`);
  });

  test('pods of its namespace: candidates, by what it asks for there', async () => {
    const config = await userWith('few', []);
    const without = await pick(config);
    expect([without.exit, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain("name candidates with '--nodes a,b,…'");
    await runPod(namespace.name, 'here', ['sh', '-c', 'sleep 3600']);
    const pod = await admin.get<KubernetesObject & { spec: { nodeName: string } }>('pods', {
      namespace: namespace.name,
      name: 'here',
    });
    const { nodes } = await pick(config, '--nodes', `${pod.spec.nodeName},elsewhere`);
    expect([nodes.basis, nodes.nodes.find((one) => one.name === pod.spec.nodeName)?.pods]).toEqual([
      'candidates',
      1,
    ]);
  });

  test('nothing: an error that names the right', async () => {
    const token = await makeUser(namespace.name, 'nobody', []);
    const { exit, stdout, stderr } = await pick(configFor(token), '--nodes', 'a');
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/not allowed to list pods in namespace '.*': .*nobody.*; the README's grants/);
  });

  test('a server that is not there ends it: only Forbidden narrows', async () => {
    const config = join(files.path, 'away');
    writeFileSync(config, readFileSync(kubeconfig, 'utf8').replaceAll(own.server, 'https://127.0.0.1:1'));
    const { exit, stdout, stderr } = await pick(config, '--nodes', 'a');
    expect([exit, stdout, stderr.includes('connection refused')]).toEqual([1, '', true]);
  });
});

const pool = (): string => `k8sbench.test/pool=${namespace.name}`;

const picked = async (...args: string[]): Promise<Nodes> =>
  (await pick(kubeconfig, '--node-selector', pool(), ...args)).nodes;

const container = (id: string, cpu: string) => ({
  name: id,
  image: 'x',
  resources: { requests: { cpu, memory: '1Gi' } },
});

test('taints, cordons and requests count; a spot node is a warning', async () => {
  const name = (word: string): string => `${namespace.name}-${word}`;
  await fakeNode(name('free'));
  await fakeNode(name('used'));
  await fakeNode(name('cordoned'), { unschedulable: true });
  await fakeNode(name('tainted'), { taints: [{ key: 'dedicated', value: 'x', effect: 'NoExecute' }] });
  const pod = (word: string, more: object) =>
    admin.create(
      'pods',
      { namespace: namespace.name },
      {
        metadata: { name: word },
        spec: {
          nodeName: name('used'),
          automountServiceAccountToken: false,
          tolerations: [{ operator: 'Exists' }],
          ...more,
        },
      },
    );
  await pod('plain', { containers: [container('a', '1500m')] });
  await pod('sidecar', {
    containers: [container('a', '1')],
    initContainers: [{ ...container('s', '2'), restartPolicy: 'Always' }, container('i', '500m')],
  });
  await pod('finished', { containers: [container('a', '10')] });
  await admin.patch(
    'pods',
    { namespace: namespace.name, name: 'finished', subresource: 'status' },
    { status: { phase: 'Succeeded' } },
  );
  const values = join(files.path, 'values.yaml');
  // The node controller of a whole cluster taints nodes that nobody runs.
  writeFileSync(
    values,
    'tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}, {key: node.kubernetes.io/unreachable, operator: Exists}]\n',
  );
  const ranking = await picked('--values', values);
  const row = (word: string) => ranking.nodes.find((one) => one.name === name(word));
  expect(ranking.chosen).toEqual([name('free')]);
  expect(row('used')).toMatchObject({ freeCpu: 59.5, freeMemory: 61 * 2 ** 30, pods: 2 });
  expect(row('cordoned')?.skip).toContain('cordoned');
  expect(row('tainted')?.skip).toContain('taint dedicated=x:NoExecute');
  expect(ranking.warnings[0]).toContain('is a spot node');
});

test('and offline, from what kubectl would print, the same', async () => {
  const [nodes, pods] = [await admin.list<object>('nodes', {}), await admin.list<object>('pods', {})];
  const lists = [
    { kind: 'NodeList', items: nodes },
    { kind: 'PodList', items: pods },
  ];
  const args = ['--from', '-', '--cpus', '1', '--memory', '1Mi', '--json'];
  const offline = await runTool(main, args, {
    stdin: lists.map((one) => JSON.stringify(one)).join('\n'),
    env: {},
  });
  const live = await pick(kubeconfig);
  // A list says nothing of how it was made, so it may be doubted.
  expect({ ...(JSON.parse(offline.stdout) as Nodes), warnings: [] }).toEqual({ ...live.nodes, warnings: [] });
});

/**
 * The cluster that all tests of one run share, and what they make in it: the one that K8SBENCH_TEST_KUBECONFIG names (kind,
 * k3d, a company's), else one started here, as root on Linux. Somebody's cluster must have two nodes that take any pod, of
 * this machine's architecture, each with room for a pod of 1 CPU and 3 GiB; its kubeconfig is an administrator's, as tests make
 * namespaces and roles. Beside it:
 * K8SBENCH_TEST_IMAGE       an image with a shell; default: Docker Hub's busybox
 * K8SBENCH_TEST_REGISTRY    HOST:PORT of a registry that takes pushes over plain HTTP, for the images of sessions; or
 * K8SBENCH_TEST_BASE_IMAGE, K8SBENCH_TEST_SESSION_IMAGE   these images, pushed before (session-image.ts writes them)
 * Everywhere:
 * K8SBENCH_TEST_STANDSTILL_S   how long runners stand still in standstill.test.ts
 * K8SBENCH_TEST_ROUNDS, K8SBENCH_TEST_KEEP   agents.test.ts: rounds, and a directory for its run
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Cluster, connect, type ConnectValues, type KubernetesObject } from '../../shared/kubernetes.ts';
import type { World } from '../../shared/world.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { ownCluster } from './own-cluster.ts';
import { until } from './processes.ts';

const { env } = process;
if (!env['K8SBENCH_TEST_KUBECONFIG']) {
  const started = await ownCluster();
  // In the environment, so that every test file of this run finds it.
  env['K8SBENCH_TEST_KUBECONFIG'] = started.kubeconfig;
  env['K8SBENCH_TEST_IMAGE'] = started.image;
  env['K8SBENCH_TEST_CLUSTER'] = started.directory;
}

/** The administrator's. */
export const kubeconfig = env['K8SBENCH_TEST_KUBECONFIG'];
/** An image with a shell and common tools. */
export const image = env['K8SBENCH_TEST_IMAGE'] ?? 'docker.io/library/busybox:1.36';
/** Directory of a cluster that was started here, for faults; undefined on a cluster that is somebody's. */
export const ownDirectory = env['K8SBENCH_TEST_CLUSTER'];

const nothing = { write: async () => undefined, closed: false, isTerminal: false, columns: 80 };

/** An outside with an environment of its own, so that nothing of the tester's leaks in. */
export const worldWith = (
  more: { env?: Record<string, string>; interrupted?: AbortSignal; cwd?: string } = {},
): World => ({
  cwd: more.cwd ?? tmpdir(),
  env: { PATH: env['PATH'], HOME: '/dev/null', ...more.env },
  host: 'tester',
  now: () => Date.now(),
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  stdin: (async function* () {})(),
  stdout: nothing,
  stderr: nothing,
  interrupted: more.interrupted ?? new AbortController().signal,
  program: (tool) => ['false', tool],
});

export const connected = (
  values: ConnectValues = { kubeconfig },
  more: Parameters<typeof worldWith>[0] = {},
): Cluster => connect(values, worldWith(more));

export const admin = connected();

interface Node {
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { unschedulable?: boolean; taints?: { effect: string }[] };
}

const freeNodes = async (): Promise<string[]> =>
  (await admin.list<Node>('nodes', {}))
    .filter(
      ({ spec }) =>
        spec?.unschedulable !== true &&
        !(spec?.taints ?? []).some((one) => one.effect !== 'PreferNoSchedule'),
    )
    .map((one) => one.metadata.name)
    .toSorted();

/** Names of the nodes that take any pod, in order; new ones carry a taint for a moment. */
export let nodes: readonly string[] = [];
await until(
  `two nodes that take any pod, in the cluster of '${kubeconfig}'`,
  async () => {
    nodes = await freeNodes();
    return nodes.length >= 2;
  },
  ownDirectory === undefined ? 15_000 : 120_000,
);
export const [node1 = '', node2 = ''] = nodes;

/** A connection whose kubeconfig is the administrator's, changed. */
const connectedWith = (change: (config: ReadConfig) => void): Cluster => {
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-cluster-test-'));
  const path = join(directory, 'kubeconfig');
  const config = parseForeignYaml(readFileSync(kubeconfig, 'utf8'), kubeconfig) as ReadConfig;
  change(config);
  // Relative paths of certificates start from where the original is.
  for (const { cluster } of config.clusters)
    if (cluster['certificate-authority'])
      cluster['certificate-authority'] = resolve(dirname(kubeconfig), cluster['certificate-authority']);
  writeFileSync(path, JSON.stringify(config));
  const cluster = connected({ kubeconfig: path });
  rmSync(directory, { recursive: true });
  return cluster;
};
interface ReadConfig {
  clusters: { cluster: Record<string, string> }[];
  users: { user: object }[];
}

/** The administrator's connection, through a proxy. */
export const through = (proxy: string): Cluster =>
  connectedWith((config) => {
    for (const { cluster } of config.clusters) cluster['proxy-url'] = proxy;
  });

/** Another user's connection, by token. */
export const connectedAs = (token: string): Cluster =>
  connectedWith((config) => {
    for (const one of config.users) one.user = { token };
  });

/** A directory for files of a test file. */
export const scratch = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'k8sbench-cluster-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

let namespaces = 0;

/** A namespace of its own for a test file; `remove` takes everything in it away. */
export const makeNamespace = async (
  word: string,
  labels: Record<string, string> = {},
): Promise<{ name: string; remove: () => Promise<void> }> => {
  const name = `k8sbench-test-${word}-${Date.now().toString(36)}-${++namespaces}`;
  const made = await admin.create<KubernetesObject>('namespaces', {}, { metadata: { name, labels } });
  await until(`the service account of ${name}`, async () =>
    (await admin.list<KubernetesObject>('serviceaccounts', { namespace: name })).some(
      (one) => one.metadata.name === 'default',
    ),
  );
  return {
    name,
    remove: async () => {
      await admin.delete('namespaces', { name }, made.metadata.uid);
    },
  };
};

/** A pod with one container `main` that runs a command; gives its name once it runs. */
export const runPod = async (namespace: string, name: string, command: string[]): Promise<string> => {
  await admin.create(
    'pods',
    { namespace },
    {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image, imagePullPolicy: 'IfNotPresent', command }],
      },
    },
  );
  await until(`pod ${name}`, async () => {
    const pod = await admin.get<KubernetesObject & { status: { phase: string } }>('pods', {
      namespace,
      name,
    });
    return pod.status.phase !== 'Pending';
  });
  return name;
};

/** Waits until a user may do something: the API server reads new bindings a moment after they were made. */
export const untilAllowed = (
  token: string,
  right: { verb: string; resource: string; subresource?: string; group?: string; namespace?: string },
): Promise<void> => {
  const user = connectedAs(token);
  return until(`the right to ${right.verb} ${right.resource}`, async () => {
    const review = { spec: { resourceAttributes: right } };
    const { status } = await user.create<{ status: { allowed: boolean } }>(
      'selfsubjectaccessreviews',
      {},
      review,
    );
    return status.allowed;
  });
};

/** A service account that may do what the rules say in its namespace, and a token of it. */
export const makeUser = async (
  namespace: string,
  name: string,
  rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[],
): Promise<string> => {
  await admin.create('serviceaccounts', { namespace }, { metadata: { name } });
  await admin.create('roles', { namespace }, { metadata: { name }, rules });
  await admin.create(
    'rolebindings',
    { namespace },
    {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  );
  const { status } = await admin.create<{ status: { token: string } }>(
    'serviceaccounts',
    { namespace, name, subresource: 'token' },
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  );
  for (const { apiGroups, resources, verbs } of rules)
    for (const [resource, subresource] of resources.map((one) => one.split('/')))
      await untilAllowed(status.token, {
        verb: verbs[0]!,
        group: apiGroups[0]!,
        resource: resource!,
        namespace,
        ...(subresource ? { subresource } : {}),
      });
  return status.token;
};

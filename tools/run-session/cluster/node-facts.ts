/** cluster.json: what the API server says of the node, an allowlist of it. Never a reason for a session to fail. */
import type { Clustered } from '../../../schemas/cluster.ts';
import { type Cluster, isForbidden, isNotFound, type KubernetesObject } from '../../../shared/kubernetes.ts';
import { cause } from '../../../shared/failure.ts';
import type { Task } from '../task.ts';
import { BENCH, type Pod } from './objects.ts';

type Node = KubernetesObject & {
  spec?: { unschedulable?: boolean; taints?: { key: string; effect: string }[] };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    nodeInfo?: Record<string, string>;
  };
};

/** Labels that tell a node's kind and place, and nothing of its owner. */
const LABELS = [
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
const INFO = [
  'architecture',
  'containerRuntimeVersion',
  'kernelVersion',
  'kubeletVersion',
  'operatingSystem',
  'osImage',
];
const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];

const chosen = (
  from: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Record<string, string> =>
  Object.fromEntries(keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]]])));

/** The kubelet's CPU manager policy, from its configz endpoint: needs the wide right nodes/proxy, so only when asked for. */
const policyOf = async (cluster: Cluster, name: string): Promise<string | undefined> => {
  const { kubeletconfig } = await cluster.get<
    KubernetesObject & { kubeletconfig?: { cpuManagerPolicy?: string } }
  >('nodes', { name, subresource: 'proxy/configz' });
  return kubeletconfig?.cpuManagerPolicy;
};

/** Gathers what can be known. What the account may not read is left out, with the reason. */
export const clusterFacts = async (
  task: Task,
  cluster: Cluster,
  pod: Pod,
  readConfig: boolean,
): Promise<Clustered> => {
  const { about } = task;
  const name = pod.spec.nodeName ?? '';
  const missing: string[] = [];
  const known = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      missing.push(
        `${what}: ${isForbidden(error) ? 'not allowed' : isNotFound(error) ? 'not there' : cause(error)}`,
      );
      return undefined;
    }
  };
  const version = await known('server version', () => cluster.version());
  const node = await known('node', () => cluster.get<Node>('nodes', { name }));
  const policy = readConfig ? await known('kubelet configuration', () => policyOf(cluster, name)) : undefined;
  const status = pod.status.containerStatuses?.find((one) => one.name === BENCH);
  const image = pod.spec.containers.find((one) => one.name === BENCH)?.['image'];
  return {
    format: 'cluster/1',
    delivery: about.delivery,
    image: String(image),
    ...(status?.imageID ? { imageId: status.imageID } : {}),
    ...(about.bundleSha256 === undefined ? {} : { bundleSha256: about.bundleSha256 }),
    ...(version ? { serverVersion: version.gitVersion } : {}),
    node: {
      name,
      ...(node
        ? {
            labels: chosen(node.metadata.labels, LABELS),
            info: chosen(node.status?.nodeInfo, INFO),
            capacity: chosen(node.status?.capacity, RESOURCES),
            allocatable: chosen(node.status?.allocatable, RESOURCES),
            taints: (node.spec?.taints ?? []).map(({ key, effect }) => ({ key, effect })),
          }
        : {}),
      ...(policy === undefined ? {} : { cpuManagerPolicy: policy }),
    },
    missing,
  };
};

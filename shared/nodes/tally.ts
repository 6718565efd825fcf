/** What lists of nodes and pods add up to: a few numbers per node, however long the lists are. */
import { type Amounts, amountOf, countsOn, podRequests } from './requests.ts';
import type { Node, Pod, Taint } from './objects.ts';

/** A node as far as choosing goes. */
export interface NodeFacts {
  name: string;
  labels: Record<string, string>;
  taints: Taint[];
  cordoned: boolean;
  ready: boolean;
  os: string;
  arch: string;
  allocatable: Amounts;
  /** How many pods it takes; undefined: it does not say. */
  maxPods: number | undefined;
}

/** What unfinished pods ask for on one node. */
export interface Used extends Amounts {
  pods: number;
}

export interface Tally {
  nodes: NodeFacts[];
  used: Map<string, Used>;
  /** Namespaces that pods were seen in. */
  namespaces: Set<string>;
}

export const emptyTally = (): Tally => ({ nodes: [], used: new Map(), namespaces: new Set() });

export const addNode = (tally: Tally, { metadata, spec, status }: Node): void => {
  const labels = metadata.labels ?? {};
  const maxPods = Number(status?.allocatable?.['pods']);
  tally.nodes.push({
    name: metadata.name,
    labels,
    taints: spec?.taints ?? [],
    cordoned: spec?.unschedulable === true,
    ready: status?.conditions?.find((one) => one.type === 'Ready')?.status === 'True',
    // The scheduler goes by the labels, which the kubelet sets from the same source.
    os: labels['kubernetes.io/os'] ?? status?.nodeInfo?.operatingSystem ?? '',
    arch: labels['kubernetes.io/arch'] ?? status?.nodeInfo?.architecture ?? '',
    allocatable: {
      cpu: amountOf(status?.allocatable, 'cpu'),
      memory: amountOf(status?.allocatable, 'memory'),
    },
    maxPods: Number.isSafeInteger(maxPods) ? maxPods : undefined,
  });
};

export const addPod = (tally: Tally, pod: Pod): void => {
  if (pod.metadata.namespace !== undefined) tally.namespaces.add(pod.metadata.namespace);
  const node = countsOn(pod);
  if (!node) return;
  const need = podRequests(pod);
  const used = tally.used.get(node);
  if (used) {
    used.cpu += need.cpu;
    used.memory += need.memory;
    used.pods++;
  } else tally.used.set(node, { ...need, pods: 1 });
};

/**
 * Nodes and pods as a busy cluster has them, for lists of any length: the same objects from the same numbers, about 2 kB
 * a pod, with sidecars, init containers, finished pods, taints and quantities in several spellings.
 */

const pick = <T>(options: readonly T[], at: number): T => options[at % options.length]!;

/** Namespaces that the pods live in. */
export const NAMESPACES = Array.from({ length: 20 }, (_, at) => `team-${at}`);

export const nodeName = (at: number): string => `node-${String(at).padStart(5, '0')}.pool.example.com`;

/** Node number `at`; every 50th is cordoned, every 40th tainted, every 30th a spot node. */
export const nodeAt = (at: number): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: nodeName(at),
    uid: `00000000-0000-4000-9000-${String(at).padStart(12, '0')}`,
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/hostname': nodeName(at),
      'topology.kubernetes.io/zone': pick(['a', 'b', 'c'], at),
      ...(at % 30 === 7 ? { 'karpenter.sh/capacity-type': 'spot' } : {}),
    },
    annotations: { 'node.alpha.kubernetes.io/ttl': '0' },
  },
  spec: {
    podCIDR: `10.${at >> 8}.${at & 255}.0/24`,
    ...(at % 50 === 11 ? { unschedulable: true } : {}),
    ...(at % 40 === 13 ? { taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] } : {}),
  },
  status: {
    capacity: { cpu: '64', memory: '263850740Ki', pods: '250' },
    allocatable: { cpu: pick(['63770m', '64', '63.5'], at), memory: '253850740Ki', pods: '250' },
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: type === 'Ready' ? 'KubeletReady' : `KubeletHasNo${type}`,
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: '2026-01-02T03:04:05Z',
      lastTransitionTime: '2026-01-01T03:04:05Z',
    })),
    nodeInfo: {
      architecture: 'amd64',
      operatingSystem: 'linux',
      kernelVersion: '6.8.0-1021',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      kubeletVersion: 'v1.34.4',
      containerRuntimeVersion: 'containerd://1.7.24',
      machineID: `${at}`,
      systemUUID: `${at}`,
      bootID: `${at}`,
      kubeProxyVersion: '',
    },
    images: Array.from({ length: 20 }, (_, image) => ({
      names: [`registry.example.com/team/service-${image}@sha256:${'0123456789abcdef'.repeat(4)}`],
      sizeBytes: 123456789 + image,
    })),
  },
});

/** Pod number `at` of a cluster of `nodes` nodes; every 12th has finished, every 20th waits for a node. */
export const podAt = (at: number, nodes: number): Record<string, unknown> => {
  const name = `service-${at % 997}-6d4cf56db6-${String(at).padStart(6, '0')}`;
  const container = (id: number): Record<string, unknown> => ({
    name: `main-${id}`,
    image: `registry.example.com/team/service-${at % 997}:v1.2.${id}`,
    env: [{ name: 'OPTIONS', value: '-Dname="quoted \\ text" -Dcity=Zürich' }],
    resources: {
      limits: { memory: pick(['512Mi', '1Gi', '750M', '1.5Gi'], at + id) },
      requests: {
        cpu: pick(['100m', '0.25', '1', '50m', '1500m'], at + id),
        memory: pick(['128Mi', '0.5Gi', '750M', '1e8'], at + id),
      },
    },
    imagePullPolicy: 'IfNotPresent',
  });
  const phase = at % 12 === 5 ? 'Succeeded' : at % 20 === 3 ? 'Pending' : 'Running';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: pick(NAMESPACES, at),
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      labels: { app: `service-${at % 997}`, 'pod-template-hash': '6d4cf56db6' },
      annotations: { 'prometheus.io/scrape': 'true', 'example.com/note': 'braces } and "quotes" in a text' },
    },
    spec: {
      ...(at % 12 === 4
        ? {
            initContainers: [container(7), { ...container(8), restartPolicy: 'Always' }],
          }
        : {}),
      containers: at % 5 === 0 ? [container(0), container(1)] : [container(0)],
      ...(phase === 'Pending' ? {} : { nodeName: nodeName((Math.imul(at + 1, 2654435761) >>> 4) % nodes) }),
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      schedulerName: 'default-scheduler',
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
    status: {
      phase,
      conditions: ['Ready', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:05Z',
      })),
      hostIP: '192.0.2.1',
      podIP: '192.0.2.2',
      qosClass: 'Burstable',
      startTime: '2026-01-02T03:04:05Z',
    },
  };
};

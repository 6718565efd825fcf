/** Faults of a node, one after another on node-2: fault → message → exit status. */
import { expect } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../shared/kubernetes.ts';
import { apply, type Fault, kubectl, real, sampled, sized, waits } from './fault.ts';
import { killKubelet, restartKubelet } from './faults.ts';
import { until } from './processes.ts';
import { statesIn } from './session-runs.ts';
import { admin, ownDirectory } from './the-cluster.ts';

const NODE = 'node-2';
const on = { node: NODE };

interface Node {
  status: { conditions?: { type: string; status: string }[] };
}
const isReady = (): Promise<void> =>
  until(NODE, async () => {
    const { status } = await admin.get<KubernetesObject & Node>('nodes', { name: NODE });
    return (status.conditions ?? []).some((one) => one.type === 'Ready' && one.status === 'True');
  });

/** Kubelet settings for CPUs that belong to one pod alone: core 0 is reserved, so there is one of them. */
const OWN_CPUS = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' };
const NO_OWN_CPUS = { cpuManagerPolicy: 'none', reservedSystemCPUs: null, topologyManagerPolicy: null };

const withKubelet = async (settings: Readonly<Record<string, unknown>>): Promise<void> => {
  await restartKubelet(ownDirectory!, 2, settings, () =>
    // It refuses to start with what another policy remembered.
    rmSync(join(ownDirectory!, NODE, 'kubelet', 'cpu_manager_state'), { force: true }),
  );
  await isReady();
};
const withOwnCpus = async (more: Readonly<Record<string, unknown>>): Promise<() => Promise<void>> => {
  await withKubelet({ ...OWN_CPUS, ...more });
  return () => withKubelet(NO_OWN_CPUS);
};

/** Two CPUs of its own, past the scheduler, which knows that there is one. */
const wantsTwo = (spec: any): void => {
  waits(spec);
  for (const size of Object.values(spec.containers[0].resources) as any[]) size.cpu = '2';
  spec.nodeName = NODE;
};

const taint = (effect: string): (() => void) => {
  kubectl(['taint', 'node', NODE, `k8sbench-test=x:${effect}`]);
  return () => void kubectl(['taint', 'node', NODE, 'k8sbench-test-']);
};

/** A pod of higher priority that fits only when the session's goes. */
const preempts = (namespace: string): (() => void) =>
  apply(
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: `${namespace}-high` },
      value: 1000,
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'important', namespace },
      spec: {
        priorityClassName: `${namespace}-high`,
        terminationGracePeriodSeconds: 0,
        nodeSelector: { 'kubernetes.io/hostname': NODE },
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'main',
            image: `localhost/k8sbench-test/busybox:1`,
            command: ['sleep', '600'],
            resources: { requests: { cpu: '1500m' } },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    },
  );

export const ON_NODE: Readonly<Record<string, Fault>> = {
  'a taint evicts it': {
    ...sampled,
    plan: { ...sampled.plan, ...on },
    happens: async () => taint('NoExecute'),
    says: /its pod was evicted: .*the measurement is void, not bad/,
  },
  'a taint that it does not tolerate': {
    plan: on,
    place: async () => taint('NoSchedule'),
    says: /no node takes its pod: .*untolerated taint/,
  },
  'its node is cordoned': {
    plan: on,
    place: async () => {
      kubectl(['cordon', NODE]);
      return () => kubectl(['uncordon', NODE]);
    },
    says: /no node takes its pod: .*were unschedulable/,
  },
  'a pod of higher priority takes its place': {
    ...sampled,
    plan: { ...sampled.plan, ...on },
    change: (spec) => sized(spec, '1'),
    happens: async ({ bed: { namespace } }) => preempts(namespace),
    says: /its pod was preempted by one of higher priority: .*; set priorityClassName, or choose another node/,
  },
  'its kubelet can not give it the CPUs: UnexpectedAdmissionError': {
    plan: on,
    place: () => withOwnCpus({}),
    change: wantsTwo,
    says: /the node refused its pod: UnexpectedAdmissionError: .*not enough cpus available.*choose another node/,
  },
  'its kubelet can not align its resources: TopologyAffinityError': {
    plan: on,
    place: () => withOwnCpus({ topologyManagerPolicy: 'single-numa-node' }),
    change: wantsTwo,
    says: /the node refused its pod: TopologyAffinityError: .*choose another node/,
  },
  'its kubelet restarts: nothing is lost': {
    plan: { ...on, rounds: 40 },
    change: real,
    at: 'measuring',
    happens: async () => (await killKubelet(ownDirectory!, 2))(),
    says: /40 of 40 rounds done/,
    exit: 0,
  },
  'its node goes away, and does not come back': {
    ...sampled,
    plan: { ...sampled.plan, ...on },
    change(spec) {
      real(spec);
      spec.tolerations = ['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 3,
      }));
      spec.terminationGracePeriodSeconds = 1;
    },
    async happens({ bed, run, process }) {
      const again = await killKubelet(ownDirectory!, 2);
      await until('that it is missed', () => process.said().includes('its node does not answer'));
      expect(await statesIn(bed)).toMatchObject({ [run.name]: 'lost' });
      return async () => {
        again();
        await isReady();
      };
    },
    says: /its node does not answer.*failed: its node is gone: /s,
  },
};

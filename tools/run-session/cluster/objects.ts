/** What is read of the objects of a session. */
import type { Condition, ContainerState } from '../../../shared/job/pod-causes.ts';
import type { KubernetesObject } from '../../../shared/kubernetes.ts';

export type { ContainerState };

export type JobObject = KubernetesObject & {
  spec?: { activeDeadlineSeconds?: number };
  status?: { conditions?: Condition[]; active?: number; startTime?: string };
};

export type Container = Record<string, unknown> & { name: string };

export type Pod = KubernetesObject & {
  metadata: { deletionGracePeriodSeconds?: number };
  spec: Record<string, unknown> & { nodeName?: string; containers: Container[] };
  status: {
    phase?: string;
    qosClass?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    containerStatuses?: { name: string; state?: ContainerState; imageID?: string; restartCount?: number }[];
  };
};

export type EventObject = KubernetesObject & {
  type?: string;
  reason?: string;
  message?: string;
  involvedObject?: { uid?: string };
};

/** The container that measures. */
export const BENCH = 'bench';

export const stateOf = (pod: Pod, container = BENCH): ContainerState =>
  pod.status.containerStatuses?.find((one) => one.name === container)?.state ?? {};

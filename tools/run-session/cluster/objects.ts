/** What is read of the objects of a session. */
import type { KubernetesObject } from '../../../shared/kubernetes.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export type JobObject = KubernetesObject & {
  spec?: { activeDeadlineSeconds?: number };
  status?: { conditions?: Condition[]; active?: number };
};

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { exitCode: number; reason?: string; message?: string };
}

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

export const conditionOf = (
  { status }: { status?: { conditions?: Condition[] } },
  type: string,
): Condition | undefined => status?.conditions?.find((one) => one.type === type);

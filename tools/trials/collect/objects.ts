/** What is read of the objects of a trial, as the API writes them. Anything may be absent. */
import type { KubernetesObject } from '../../../shared/kubernetes.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export type TrialJob = KubernetesObject & {
  status?: { conditions?: Condition[]; active?: number; succeeded?: number; failed?: number };
};

export interface Terminated {
  exitCode: number;
  reason?: string;
  message?: string;
  startedAt?: string;
  finishedAt?: string;
}

export interface ContainerStatus {
  name: string;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: Terminated;
  };
  /** Before its last restart. */
  lastState?: { terminated?: Terminated };
}

export type TrialPod = KubernetesObject & {
  metadata: {
    deletionGracePeriodSeconds?: number;
    ownerReferences?: { uid: string; kind: string }[];
  };
  spec: { nodeName?: string };
  status: {
    phase?: string;
    reason?: string;
    message?: string;
    startTime?: string;
    conditions?: Condition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
};

export type TrialEvent = KubernetesObject & {
  reason?: string;
  message?: string;
  involvedObject?: { uid?: string };
};

/** The container that holds the tests and says what became of the trial. */
export const GATE = 'gate';
/** The container that the agent works in. */
export const TRIAL = 'trial';

export const statusOf = ({ status }: TrialPod, name: string): ContainerStatus['state'] =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find(
    (one) => one.name === name,
  )?.state;

export const conditionOf = (
  { status }: { status?: { conditions?: Condition[] } },
  type: string,
): Condition | undefined => status?.conditions?.find((one) => one.type === type);

const holds = (job: TrialJob, type: string): boolean => conditionOf(job, type)?.status === 'True';

/** Nothing of it runs any more, or will. */
export const isOver = (job: TrialJob): boolean => holds(job, 'Complete') || holds(job, 'Failed');

/** Its pod has ended, whatever is left to tidy up. */
export const isEnded = ({ status }: TrialPod): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

export const ownerOf = ({ metadata }: TrialPod): string | undefined =>
  metadata.ownerReferences?.find((one) => one.kind === 'Job')?.uid;

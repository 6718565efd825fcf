/** What is read of the objects of a trial, as the API writes them. Anything may be absent. */
import { type Condition, conditionOf, type ContainerState } from '../../../shared/job/pod-causes.ts';
import type { KubernetesObject } from '../../../shared/kubernetes.ts';

export type TrialJob = KubernetesObject & {
  status?: { conditions?: Condition[]; active?: number; succeeded?: number; failed?: number };
};

export interface ContainerStatus {
  name: string;
  state?: ContainerState;
  restartCount?: number;
  /** Before its last restart. */
  lastState?: Pick<ContainerState, 'terminated'>;
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
/** The one before it that shows whether our programs run on the task's image at all. */
export const STARTS = 'starts';

export const statusOf = ({ status }: TrialPod, name: string): ContainerStatus['state'] =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find(
    (one) => one.name === name,
  )?.state;

const holds = (job: TrialJob, type: string): boolean => conditionOf(job, type)?.status === 'True';

/** Nothing of it runs any more, or will. */
export const isOver = (job: TrialJob): boolean => holds(job, 'Complete') || holds(job, 'Failed');

/** Its pod has ended, whatever is left to tidy up. */
export const isEnded = ({ status }: TrialPod): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

export const ownerOf = ({ metadata }: TrialPod): string | undefined =>
  metadata.ownerReferences?.find((one) => one.kind === 'Job')?.uid;

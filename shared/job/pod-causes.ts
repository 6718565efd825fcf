/**
 * Why a pod does not run, why it ended, or why it was never made, as the API tells it: the name of the cause, and what the
 * cluster said of it. Sessions and trials have their own words for them, and draw their own conclusions. Pure.
 */
import { parseQuantity } from '../quantity.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: {
    exitCode: number;
    reason?: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
  };
}

/** What is read of a pod; anything may be absent. */
export interface PodSays {
  metadata: { deletionTimestamp?: string; deletionGracePeriodSeconds?: number };
  status: { reason?: string; message?: string; conditions?: Condition[] };
}

/** Of the Job and its pod, newest last where they say no time. */
export interface EventSays {
  reason?: string;
  message?: string;
  /** When it was seen last: the same event again is counted in the one that stands. */
  lastTimestamp?: string | null;
  eventTime?: string | null;
}

export type PodCause =
  // It ended, or is about to.
  | 'scratch-full'
  | 'preempted'
  | 'evicted'
  | 'node-gone'
  | 'deadline'
  | 'kubelet-refused'
  // It does not start.
  | 'wrong-architecture'
  | 'image'
  | 'registry-busy'
  | 'config'
  | 'container-start'
  | 'volume'
  // No node has it.
  | 'held'
  | 'scaling-up'
  | 'claim'
  | 'no-room'
  | 'unschedulable'
  // It was refused.
  | 'namespace-terminating'
  | 'quota'
  | 'quota-full'
  | 'pod-security'
  | 'limit-range'
  | 'admission';

/** A cause, and what the cluster said of it; '' when that is nothing. */
export interface FoundCause {
  name: PodCause;
  said: string;
}

const found = (name: PodCause, said = ''): FoundCause => ({ name, said });

export const conditionOf = (
  { status }: { status?: { conditions?: Condition[] } },
  type: string,
): Condition | undefined => status?.conditions?.find((one) => one.type === type);

/** The kubelet's words for a pod that wrote more than it may, as against a node that has no room. */
const OWN_SPACE =
  /^Usage of EmptyDir volume|ephemeral local storage usage exceeds|local ephemeral storage limit/;

/** Why a pod is about to go, or went (KEP-3329). */
const DISRUPTIONS: Readonly<Record<string, PodCause>> = {
  PreemptionByScheduler: 'preempted',
  DeletionByTaintManager: 'evicted',
  EvictionByEvictionAPI: 'evicted',
  DeletionByPodGC: 'node-gone',
  TerminationByKubelet: 'evicted',
};

/** Reasons with which a kubelet refuses a pod that was bound to it. */
const REFUSED =
  /^(TopologyAffinityError|UnexpectedAdmissionError|OutOf\w+|NodeAffinity|NodeName|NodePorts|.*AdmissionError|.*NotSupported)$/;

/**
 * What a pod that failed or goes away says of itself. `unheardOf`: its node is not heard of (the node controller says that the
 * pod is not ready, and nobody that its containers ended).
 */
export const endingIn = (pod: PodSays, unheardOf: boolean): FoundCause | undefined => {
  const { reason = '', message = '' } = pod.status;
  if (OWN_SPACE.test(message)) return found('scratch-full', message);
  const disrupted = conditionOf(pod, 'DisruptionTarget');
  const named = disrupted?.status === 'True' ? DISRUPTIONS[disrupted.reason ?? ''] : undefined;
  // A node that is gone taints its pods away, too.
  if (named === 'evicted' && unheardOf) return found('node-gone', disrupted?.message);
  if (named) return found(named, message || disrupted?.message);
  if (reason === 'Evicted') return found('evicted', message);
  if (/^(NodeLost|NodeShutdown|Terminated|Shutdown)$/.test(reason))
    return found('node-gone', message || reason);
  if (reason === 'Preempting') return found('preempted', message);
  if (reason === 'DeadlineExceeded') return found('deadline', message);
  if (REFUSED.test(reason)) return found('kubelet-refused', `${reason}: ${message}`);
  return undefined;
};

/** How long after its grace a pod may still be there, ms: nobody confirms its end when the node is gone. */
const LINGERS = 30_000;

/** Whether a pod that was deleted should be gone by `now`, ms since the epoch; undefined: it was not deleted. */
export const isOverdue = ({ metadata }: PodSays, now: number): boolean | undefined => {
  const { deletionTimestamp, deletionGracePeriodSeconds = 30 } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  return now - Date.parse(deletionTimestamp) > deletionGracePeriodSeconds * 1000 + LINGERS;
};

const PULL = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);

/** What keeps one container from its start. */
export const waitingIn = ({ waiting }: ContainerState): FoundCause | undefined => {
  const { reason = '', message = '' } = waiting ?? {};
  if (/no match for platform|exec format error/.test(message)) return found('wrong-architecture', message);
  if (PULL.has(reason))
    // An answer, if a refusing one. A registry that does not answer is away or misspelt as a rule, and that does not pass.
    return /\b429\b|too ?many ?requests|\b50[0234]\b/i.test(message)
      ? found('registry-busy', message)
      : found('image', message || reason);
  if (reason === 'CreateContainerConfigError') return found('config', message);
  if (/^(CreateContainerError|RunContainerError|StartError|CrashLoopBackOff)$/.test(reason))
    return found('container-start', message || reason);
  return undefined;
};

/** A container that the node could not start, and won't try again. */
export const notStarted = ({ terminated }: ContainerState): FoundCause | undefined =>
  /^(ContainerCannotRun|StartError|ContainerStatusUnknown)$/.test(terminated?.reason ?? '')
    ? waitingIn({ waiting: { reason: 'StartError', message: terminated!.message ?? '' } })
    : undefined;

/** The scheduler's sentence, `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint …`. */
const unscheduled = (said: string): FoundCause => {
  const message = said.replace(/[,.]? *(no new claims to deallocate,? *)?preemption: .*$/s, '');
  if (/persistentvolumeclaim "?[^ ]*"? not found|unbound immediate PersistentVolumeClaims/i.test(message))
    return found('claim', message);
  // Schedulers up to Kubernetes 1.35 do not see such pods go (kubernetes/kubernetes#134393).
  if (/existing pods anti-affinity/.test(message))
    return found(
      'no-room',
      `${message} (other pods keep away from it; once they are gone, the scheduler may take five more minutes to see it)`,
    );
  // A node that only lacks room, or holds another session, would do: that passes.
  return /Insufficient |Too many pods|anti-affinity|didn't have free ports/.test(message)
    ? found('no-room', message)
    : found('unschedulable', message);
};

/** Why the scheduler has no node for a pod; undefined: it has one, or was not asked yet. */
export const schedulingOf = (pod: PodSays, events: readonly EventSays[]): FoundCause | undefined => {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const said = scheduled.message ?? '';
  if (scheduled.reason === 'SchedulingGated') return found('held', said);
  if (events.some((one) => one.reason === 'TriggeredScaleUp')) return found('scaling-up', said);
  return unscheduled(said);
};

/** ms since the epoch; NaN when an event does not say. */
const timeOf = ({ lastTimestamp, eventTime }: EventSays): number =>
  Date.parse(lastTimestamp ?? eventTime ?? '');

/** What comes after every volume stands: a kubelet pulls no image before. */
const MOUNTED = new Set(['SuccessfulAttachVolume', 'Pulling', 'Pulled', 'Created', 'Started']);

/** A volume that a pod which has not started can't be given; one that came late in the end is none. */
export const mountIn = (events: readonly EventSays[]): FoundCause | undefined => {
  const about = events.filter(
    ({ reason = '' }) => /^Failed(Mount|AttachVolume)$/.test(reason) || MOUNTED.has(reason),
  );
  // Stable: of the same second, the order in which they are listed counts.
  const last = about.toSorted((a, b) => timeOf(a) - timeOf(b) || 0).at(-1);
  return last && !MOUNTED.has(last.reason ?? '') ? found('volume', last.message) : undefined;
};

/** `requests.cpu=2,pods=1` behind a word, as a quota's refusal has it. */
const amounts = (message: string, word: string): Record<string, string> => {
  const [, text] = new RegExp(`${word}: ([^:]*?)(?:, (?:used|limited):|$)`).exec(message) ?? [];
  return Object.fromEntries((text?.split(',') ?? []).map((one) => one.trim().split('=') as [string, string]));
};

/** Whether a quota that was exceeded is too small for it even when nothing else is there. */
const isBeyondQuota = (message: string): boolean => {
  const [requested, limited] = [amounts(message, 'requested'), amounts(message, 'limited')];
  return Object.entries(requested).some(
    ([what, much]) => (parseQuantity(much) ?? 0n) > (parseQuantity(limited[what] ?? '') ?? 0n),
  );
};

/** Why a pod could not be made, from the refusal's message. */
const refusalIn = (message: string): FoundCause => {
  if (/being terminated/.test(message)) return found('namespace-terminating', message);
  if (/exceeded quota/.test(message)) return found(isBeyondQuota(message) ? 'quota' : 'quota-full', message);
  if (/failed quota/.test(message)) return found('quota', message);
  if (/violates PodSecurity/.test(message)) return found('pod-security', message);
  if (/(maximum|minimum) .* usage per|limit to request ratio/.test(message))
    return found('limit-range', message);
  return found('admission', message);
};

/** Why the Job controller could not make the pod; undefined: nothing is said. */
export const refusedPod = (events: readonly EventSays[]): FoundCause | undefined => {
  const last = events.findLast((one) => one.reason === 'FailedCreate');
  return last && refusalIn(last.message ?? '');
};

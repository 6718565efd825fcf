/** How each cause of cause-table.ts is recognized in what the API tells. Pure. */
import { parseQuantity } from '../../../shared/quantity.ts';
import { type Cause, cause, type CauseName } from './cause-table.ts';
import { conditionOf, type EventObject, type JobObject, type Pod, stateOf } from './objects.ts';

/** Why the Job controller could not make the pod. */
const refusedPod = (message: string): Cause => {
  if (/being terminated/.test(message)) return cause('namespace-terminating');
  if (/exceeded quota/.test(message)) {
    const amounts = (word: string): Record<string, string> =>
      Object.fromEntries(
        (new RegExp(`${word}: ([^:]*?)(?:, (?:used|limited):|$)`).exec(message)?.[1] ?? '')
          .split(',')
          .map((one) => one.trim().split('=') as [string, string]),
      );
    const [requested, limited] = [amounts('requested'), amounts('limited')];
    const never = Object.entries(requested).some(
      ([what, much]) => (parseQuantity(much) ?? 0n) > (parseQuantity(limited[what] ?? '') ?? 0n),
    );
    return cause(never ? 'quota' : 'quota-full', message);
  }
  if (/failed quota/.test(message)) return cause('quota', message);
  if (/violates PodSecurity/.test(message)) return cause('pod-security', message);
  if (/(maximum|minimum) .* usage per|limit to request ratio/.test(message))
    return cause('limit-range', message);
  return cause('admission', message);
};

/** The scheduler's sentence, `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint …`. */
const unscheduled = (said: string): Cause => {
  const message = said.replace(/[,.]? *(no new claims to deallocate,? *)?preemption: .*$/s, '');
  if (/persistentvolumeclaim "?[^ ]*"? not found|unbound immediate PersistentVolumeClaims/i.test(message))
    return cause('claim', message);
  // A node that only lacks room, or holds another session, would do: that passes.
  return /Insufficient |Too many pods|anti-affinity|didn't have free ports/.test(message)
    ? cause('no-room', message)
    : cause('unschedulable', message);
};

const PULL = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);

const waitingFor = (reason: string, message: string): Cause | undefined => {
  const wrongArchitecture = /no match for platform|exec format error/.test(message);
  if (wrongArchitecture) return cause('wrong-architecture', message);
  if (PULL.has(reason)) {
    if (/\b429\b|too ?many ?requests|\b50[0234]\b|timeout|deadline exceeded/i.test(message))
      return cause('registry-busy', message);
    return cause('image', message || reason);
  }
  if (reason === 'CreateContainerConfigError') return cause('config', message);
  if (/^(CreateContainerError|RunContainerError|StartError|CrashLoopBackOff)$/.test(reason))
    return cause('container-start', message || reason);
  return undefined;
};

/** Why a pod is about to go, or went (KEP-3329). */
const DISRUPTIONS: Readonly<Record<string, CauseName>> = {
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
 * Its node is not heard of: the node controller says that the pod is not ready, and nobody says that its container ended. A
 * container without a readiness probe is ready for as long as it runs.
 */
const isUnheardOf = (pod: Pod): boolean =>
  conditionOf(pod, 'Ready')?.status === 'False' && stateOf(pod).running !== undefined;

/** The kubelet's words for a pod that wrote more than it may, as against a node that has no room. */
const OWN_SPACE =
  /^Usage of EmptyDir volume|ephemeral local storage usage exceeds|local ephemeral storage limit/;

/** What a pod that failed or goes away says of itself. */
const ofEndingPod = (pod: Pod): Cause | undefined => {
  const { reason = '', message = '' } = pod.status;
  const disrupted = conditionOf(pod, 'DisruptionTarget');
  if (OWN_SPACE.test(message)) return cause('scratch-full', message);
  const named = disrupted?.status === 'True' ? DISRUPTIONS[disrupted.reason ?? ''] : undefined;
  // A node that is gone taints its pods away, too.
  if (named === 'evicted' && isUnheardOf(pod)) return cause('node-gone', disrupted?.message);
  if (named) return cause(named, message || disrupted?.message);
  if (reason === 'Evicted') return cause('evicted', message);
  if (/^(NodeLost|NodeShutdown|Terminated|Shutdown)$/.test(reason))
    return cause('node-gone', message || reason);
  if (reason === 'Preempting') return cause('preempted', message);
  if (reason === 'DeadlineExceeded') return cause('deadline', message);
  if (REFUSED.test(reason)) return cause('kubelet-refused', `${reason}: ${message}`);
  return undefined;
};

/** Everything that is known of a session's objects. */
export interface Situation {
  job: JobObject | undefined;
  /** It was there, and is no more. */
  jobGone: boolean;
  pods: readonly Pod[];
  /** UIDs of pods that went away. */
  gonePods: ReadonlySet<string>;
  /** Of the Job and its pods, newest last; empty when they can't be listed. */
  events: readonly EventObject[];
  /** ms since the epoch. */
  now: number;
}

/** How long after its grace a pod may still be there, ms: nobody confirms its end when the node is gone. */
const LINGERS = 30_000;

/** What keeps a pod from running, or from being heard of. */
const standingOf = (pod: Pod, events: readonly EventObject[]): Cause | undefined => {
  const { waiting } = stateOf(pod);
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const said = scheduled.message ?? '';
    if (scheduled.reason === 'SchedulingGated') return cause('held', said);
    if (events.some((one) => one.reason === 'TriggeredScaleUp')) return cause('scaling-up', said);
    return unscheduled(said);
  }
  if (waiting) {
    const found = waitingFor(waiting.reason ?? '', waiting.message ?? '');
    if (found) return found;
    const mount = events.findLast(
      (one) => one.reason === 'FailedMount' || one.reason === 'FailedAttachVolume',
    );
    if (mount) return cause('volume', mount.message);
  }
  return isUnheardOf(pod) ? cause('node-away', `'${pod.spec.nodeName}'`) : undefined;
};

const ofPod = (pod: Pod, events: readonly EventObject[], now: number): Cause | undefined => {
  const state = stateOf(pod);
  const ending = ofEndingPod(pod);
  if (ending) return ending;
  const { terminated } = state;
  if (terminated) {
    if (terminated.reason === 'OOMKilled') return cause('out-of-memory');
    if (/^(ContainerCannotRun|StartError|ContainerStatusUnknown)$/.test(terminated.reason ?? '')) {
      const found = waitingFor('StartError', terminated.message ?? '');
      return found && { ...found, kind: 'final' };
    }
    return undefined;
  }
  const { deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
  if (deletionTimestamp !== undefined) {
    const late = now - Date.parse(deletionTimestamp) > deletionGracePeriodSeconds * 1000 + LINGERS;
    return late ? cause('node-gone', 'it does not confirm that the pod ended') : undefined;
  }
  return standingOf(pod, events);
};

/** What stands in the way of a session, or ended it; undefined while all is well, or when the session ended by itself. */
export const causeOf = ({ job, jobGone, pods, gonePods, events, now }: Situation): Cause | undefined => {
  const uids = new Set([...pods.map((one) => one.metadata.uid), ...gonePods]);
  if (uids.size > 1) return cause('second-pod', pods.map((one) => one.metadata.name).join(', '));
  const pod = pods[0];
  const failed = job && conditionOf(job, 'Failed');
  const target = job && conditionOf(job, 'FailureTarget');
  const found = pod && ofPod(pod, events, now);
  if (failed?.reason === 'DeadlineExceeded' || target?.reason === 'DeadlineExceeded')
    return cause('deadline', pod && standingOf(pod, events)?.message);
  if (found) return found;
  if (jobGone) return cause('job-deleted');
  if (pod?.metadata.deletionTimestamp !== undefined || gonePods.size > 0) {
    const terminating = events.some((one) => /being terminated/.test(one.message ?? ''));
    return cause(terminating ? 'namespace-terminating' : 'pod-deleted');
  }
  if (pod) return undefined;
  const refusal = events.findLast((one) => one.reason === 'FailedCreate');
  return refusal && refusedPod(refusal.message ?? '');
};

/** Causes that a better one may explain a moment later. */
export const VAGUE: ReadonlySet<CauseName> = new Set(['pod-deleted', 'job-deleted']);

/** Decides when a cause ends the run. */
export class Settling {
  readonly #settle_ms: number;
  #name: string | undefined;
  #since = 0;

  constructor(settle_ms: number) {
    this.#settle_ms = settle_ms;
  }

  /** True when it is final, or structural and stood for the settle time. */
  ends(found: Cause | undefined, now: number): boolean {
    if (found?.name !== this.#name) {
      this.#name = found?.name;
      this.#since = now;
    }
    if (!found) return false;
    return found.kind === 'final' || (found.kind === 'structural' && now - this.#since >= this.#settle_ms);
  }
}

/** Why a trial has no result line, as its Job, pod and events tell it, and whose fault that is. Pure. */
import type { Fault } from '../../../schemas/trial-line.ts';
import {
  conditionOf,
  type ContainerStatus,
  GATE,
  isEnded,
  statusOf,
  TRIAL,
  type TrialEvent,
  type TrialJob,
  type TrialPod,
} from './objects.ts';

/** `ended`: nothing more comes. `structural`: it won't pass by itself. `capacity`: it passes, so it is waited for. */
export interface Cause {
  kind: 'ended' | 'structural' | 'capacity';
  fault: Fault;
  why: string;
}

/** Long sentences of the scheduler and of registries. */
const LONGEST = 300;

const shortly = (said: string | undefined): string => {
  const text = (said ?? '').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, LONGEST);
  return text === '' ? '' : `: ${text}`;
};

const cause = (kind: Cause['kind'], why: string, said?: string, fault: Fault = 'infrastructure'): Cause => ({
  kind,
  fault,
  why: why + shortly(said),
});

/** Why a pod is about to go, or went (KEP-3329). */
const DISRUPTIONS: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'its pod was preempted by one of higher priority',
  DeletionByTaintManager: 'its pod was evicted',
  EvictionByEvictionAPI: 'its pod was evicted',
  DeletionByPodGC: 'its node is gone',
  TerminationByKubelet: 'its pod was evicted',
};

/** The kubelet's words for a pod that wrote more than it may, as against a node that has no room. */
const OWN_SPACE =
  /^Usage of EmptyDir volume|ephemeral local storage usage exceeds|local ephemeral storage limit/;

/** Reasons with which a kubelet refuses a pod that was bound to it. */
const REFUSED =
  /^(TopologyAffinityError|UnexpectedAdmissionError|OutOf\w+|NodeAffinity|NodeName|NodePorts|.*AdmissionError|.*NotSupported)$/;

/** Its node is not heard of: the node controller says that the pod is not ready, and nobody says that its gate ended. */
const isUnheardOf = (pod: TrialPod): boolean =>
  conditionOf(pod, 'Ready')?.status === 'False' &&
  statusOf(pod, GATE)?.running !== undefined &&
  statusOf(pod, TRIAL)?.terminated === undefined;

const hasStarted = (pod: TrialPod): boolean => {
  const state = statusOf(pod, TRIAL);
  return state?.running !== undefined || state?.terminated !== undefined;
};

/** A container that was ended from outside: the first process of a container can't be killed from within it. */
const KILLED = 137;

const isOutOfMemory = (state: ContainerStatus['state']): boolean => state?.terminated?.reason === 'OOMKilled';

/** What a pod says of its end, or of its going. */
export const endingOf = (pod: TrialPod): Cause | undefined => {
  const { reason = '', message = '' } = pod.status;
  const node = pod.spec.nodeName === undefined ? '' : ` '${pod.spec.nodeName}'`;
  // What an agent writes counts against its pod; a node whose disk is full is another thing.
  if (OWN_SPACE.test(message)) return cause('ended', 'the agent filled its disk', message, 'agent');
  const disrupted = conditionOf(pod, 'DisruptionTarget');
  if (disrupted?.status === 'True') {
    if (isUnheardOf(pod)) return cause('ended', `its node${node} is gone`);
    const found = DISRUPTIONS[disrupted.reason ?? ''];
    if (found) return cause('ended', found, message || disrupted.message);
  }
  if (reason === 'Evicted') return cause('ended', 'its pod was evicted', message);
  if (/^(NodeLost|NodeShutdown|Terminated|Shutdown)$/.test(reason))
    return cause('ended', `its node${node} is gone`, message);
  if (reason === 'Preempting') return cause('ended', 'its pod was preempted', message);
  if (reason === 'DeadlineExceeded')
    // The gate ends a trial long before; what keeps the gate from it in a pod that runs is the agent's doing.
    return hasStarted(pod)
      ? cause('ended', "the agent's pod ran into its time limit", message, 'agent')
      : cause('ended', 'its pod did not start within its time limit', message);
  if (REFUSED.test(reason)) return cause('ended', 'its node refused its pod', `${reason}: ${message}`);
  return undefined;
};

const containersOf = ({ status }: TrialPod): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];

/** Told to end, or killed. */
const isGateKilled = (pod: TrialPod): boolean =>
  [KILLED, 143].includes(statusOf(pod, GATE)?.terminated?.exitCode ?? 0);

/** How a pod's containers ended without the gate's line. */
const ofEndedContainers = (pod: TrialPod): Cause | undefined => {
  const init = (pod.status.initContainerStatuses ?? []).find(
    (one) => one.state?.terminated !== undefined && one.state.terminated.exitCode !== 0,
  )?.state?.terminated;
  if (init) return cause('ended', `its runtime was not copied (exit ${init.exitCode})`, init.message);
  for (const { name, state } of containersOf(pod))
    if (/^(ContainerCannotRun|StartError)$/.test(state?.terminated?.reason ?? ''))
      return cause('ended', `its container '${name}' can't be started`, state?.terminated?.message);
  const gate = statusOf(pod, GATE)?.terminated;
  if (!gate) return undefined;
  if (isOutOfMemory({ terminated: gate })) return cause('ended', 'its gate was killed: out of memory');
  if (gate.exitCode === KILLED) return cause('ended', 'its gate was killed');
  return cause('ended', `its gate ended without a result line (exit ${gate.exitCode})`);
};

const PULL =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|RegistryUnavailable)$/;

const ofWaiting = (name: string, reason: string, message: string): Cause | undefined => {
  if (PULL.test(reason))
    return /\b429\b|too ?many ?requests|\b50[0234]\b|timeout|deadline exceeded/i.test(message)
      ? cause('capacity', 'the registry is busy', message)
      : cause('structural', `the image of '${name}' can't be pulled`, message || reason);
  if (reason === 'CreateContainerConfigError')
    return cause('structural', `its container '${name}' can't be configured`, message);
  if (/^(CreateContainerError|RunContainerError|StartError|CrashLoopBackOff)$/.test(reason))
    return cause('structural', `its container '${name}' can't be started`, message || reason);
  return undefined;
};

/** The scheduler's sentence, `0/3 nodes are available: 1 Insufficient cpu, …`. */
const unscheduled = (said: string): Cause => {
  const message = said.replace(/[,.]? *(no new claims to deallocate,? *)?preemption: .*$/s, '');
  if (/persistentvolumeclaim "?[^ ]*"? not found|unbound immediate PersistentVolumeClaims/i.test(message))
    return cause('structural', "its claim can't be used", message);
  return /Insufficient |Too many pods|anti-affinity|didn't have free ports/.test(message)
    ? cause('capacity', 'no node has room for its pod now', message)
    : cause('structural', 'no node takes its pod', message);
};

/** What keeps a pod from running, or from being heard of. */
const ofStandingPod = (pod: TrialPod, events: readonly TrialEvent[]): Cause | undefined => {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False')
    return scheduled.reason === 'SchedulingGated'
      ? cause('capacity', 'its pod is held back', scheduled.message)
      : unscheduled(scheduled.message ?? '');
  for (const { name, state } of containersOf(pod)) {
    const found = state?.waiting && ofWaiting(name, state.waiting.reason ?? '', state.waiting.message ?? '');
    if (found) return found;
  }
  const mount = events.findLast((one) => one.reason === 'FailedMount' || one.reason === 'FailedAttachVolume');
  if (mount && !hasStarted(pod)) return cause('structural', "a volume can't be mounted", mount.message);
  return isUnheardOf(pod) ? cause('capacity', `its node '${pod.spec.nodeName}' does not answer`) : undefined;
};

/** Why the Job controller could not make the pod. */
export const refusedPod = (message: string): Cause => {
  if (/exceeded quota/.test(message)) return cause('capacity', "the namespace's quota is used up", message);
  if (/violates PodSecurity/.test(message))
    return cause('structural', "the namespace's Pod Security level refuses its pod", message);
  return cause('structural', 'the cluster refuses its pod', message);
};

/** How long after its grace a pod may still be there, ms: nobody confirms its end when the node is gone. */
const LINGERS = 30_000;

export interface Situation {
  job: TrialJob | undefined;
  /** It was there, and is no more. */
  jobGone: boolean;
  pod: TrialPod | undefined;
  podGone: boolean;
  /** Of the Job and its pod, newest last; empty when they can't be listed. */
  events: readonly TrialEvent[];
  /** ms since the epoch. */
  now: number;
}

/** What stands in the way of a trial's result, or ended it; undefined while all is well. */
export const causeOf = ({ job, jobGone, pod, podGone, events, now }: Situation): Cause | undefined => {
  if (pod) {
    const ending = endingOf(pod);
    if (ending) return ending;
    const deleted = cause('ended', jobGone ? 'its Job was deleted' : 'its pod was deleted');
    const ended = ofEndedContainers(pod);
    // Whoever deletes a pod has its containers killed.
    if (ended) return pod.metadata.deletionTimestamp !== undefined && isGateKilled(pod) ? deleted : ended;
    if (podGone) return deleted;
    if (isEnded(pod)) return cause('ended', 'its pod ended without a result line');
    const { deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
    if (deletionTimestamp !== undefined)
      return now - Date.parse(deletionTimestamp) > deletionGracePeriodSeconds * 1000 + LINGERS
        ? cause('ended', `its node '${pod.spec.nodeName}' is gone`)
        : undefined;
    return ofStandingPod(pod, events);
  }
  if (jobGone) return cause('ended', 'its Job was deleted');
  const failed = job && conditionOf(job, 'Failed');
  if (failed?.status === 'True')
    return cause('ended', 'its pod was gone before its result was read', failed.message);
  if (job && conditionOf(job, 'Complete')?.status === 'True')
    return cause('ended', 'its pod was gone before its result was read');
  const refusal = events.findLast((one) => one.reason === 'FailedCreate');
  return refusal && refusedPod(refusal.message ?? '');
};

/** How the container that the agent works in ended, where the gate could only tell that it fell silent. */
export const silenceOf = (pod: TrialPod): Cause | undefined => {
  const state = statusOf(pod, TRIAL);
  if (!state?.terminated) return undefined;
  if (isOutOfMemory(state))
    return cause('ended', 'the agent used more memory than it may', undefined, 'agent');
  const { exitCode } = state.terminated;
  return exitCode === KILLED || pod.metadata.deletionTimestamp !== undefined
    ? cause('ended', "the trial's container was killed")
    : cause('ended', `the trial's container ended without a word (exit ${exitCode})`, undefined, 'agent');
};

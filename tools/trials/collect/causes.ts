/** Why a trial has no result line, as its Job, pod and events tell it, and whose fault that is. Pure. */
import type { Fault } from '../../../schemas/trial-line.ts';
import {
  conditionOf,
  endingIn,
  type FoundCause,
  isOverdue,
  mountIn,
  notStarted,
  type PodCause,
  refusedPod,
  schedulingOf,
  waitingIn,
} from '../../../shared/job/pod-causes.ts';
import {
  type ContainerStatus,
  GATE,
  isEnded,
  STARTS,
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

/** What each cause is to a trial; `$` stands for its node or its container. */
const CAUSES: Readonly<Record<PodCause, readonly [kind: Cause['kind'], why: string, fault?: Fault]>> = {
  // What an agent writes counts against its pod; a node whose disk is full is another thing.
  'scratch-full': ['ended', 'the agent filled its disk', 'agent'],
  preempted: ['ended', 'its pod was preempted by one of higher priority'],
  evicted: ['ended', 'its pod was evicted'],
  'node-gone': ['ended', 'its node$ is gone'],
  deadline: ['ended', 'its pod did not start within its time limit'],
  'kubelet-refused': ['ended', 'its node refused its pod'],
  'wrong-architecture': ['structural', "the image of$ does not run on the node's architecture"],
  image: ['structural', "the image of$ can't be pulled"],
  'registry-busy': ['capacity', 'the registry is busy'],
  config: ['structural', "its container$ can't be configured"],
  'container-start': ['structural', "its container$ can't be started"],
  volume: ['structural', "a volume can't be mounted"],
  held: ['capacity', 'its pod is held back'],
  'scaling-up': ['capacity', 'the cluster is making room for its pod'],
  claim: ['structural', "its claim can't be used"],
  'no-room': ['capacity', 'no node has room for its pod now'],
  unschedulable: ['structural', 'no node takes its pod'],
  'namespace-terminating': ['structural', 'its namespace is being deleted'],
  quota: ['structural', "the namespace's quota never has room for its pod"],
  'quota-full': ['capacity', "the namespace's quota is used up"],
  'pod-security': ['structural', "the namespace's Pod Security level refuses its pod"],
  'limit-range': ['structural', "the namespace's limits refuse its pod"],
  admission: ['structural', 'the cluster refuses its pod'],
};

/** A cause in a trial's words; `of` is its node or its container. */
export const told = ({ name, said }: FoundCause, of?: string): Cause => {
  const [kind, why, fault] = CAUSES[name];
  return cause(
    kind,
    why.replace('$', () => (of === undefined ? '' : ` '${of}'`)),
    said,
    fault,
  );
};

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
  const found = endingIn(pod, isUnheardOf(pod));
  // The gate ends a trial long before; what keeps the gate from it in a pod that runs is the agent's doing.
  if (found?.name === 'deadline' && hasStarted(pod))
    return cause('ended', "the agent's pod ran into its time limit", found.said, 'agent');
  return found && told(found, pod.spec.nodeName);
};

const containersOf = ({ status }: TrialPod): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];

/** Told to end, or killed. */
const isGateKilled = (pod: TrialPod): boolean =>
  [KILLED, 143].includes(statusOf(pod, GATE)?.terminated?.exitCode ?? 0);

/** How what runs before a trial ended it. */
const ofInit = ({ name, state }: ContainerStatus): Cause | undefined => {
  const { exitCode = 0, message } = state?.terminated ?? {};
  if (exitCode === 0) return undefined;
  if (name !== STARTS) return cause('ended', `its runtime was not copied (exit ${exitCode})`, message);
  return [KILLED, 143].includes(exitCode)
    ? cause('ended', `its container '${name}' was killed`)
    : cause('ended', `the bundle's Node does not run on the task's image (exit ${exitCode})`, message, 'arm');
};

/** How a pod's containers ended without the gate's line. */
const ofEndedContainers = (pod: TrialPod): Cause | undefined => {
  for (const one of pod.status.initContainerStatuses ?? []) {
    const found = ofInit(one);
    if (found) return found;
  }
  for (const { name, state = {} } of pod.status.containerStatuses ?? []) {
    const found = notStarted(state);
    if (found) return { ...told(found, name), kind: 'ended' };
  }
  const gate = statusOf(pod, GATE)?.terminated;
  if (!gate) return undefined;
  if (isOutOfMemory({ terminated: gate })) return cause('ended', 'its gate was killed: out of memory');
  if (gate.exitCode === KILLED) return cause('ended', 'its gate was killed');
  return cause('ended', `its gate ended without a result line (exit ${gate.exitCode})`);
};

/** What keeps a pod from running, or from being heard of. */
const ofStandingPod = (pod: TrialPod, events: readonly TrialEvent[]): Cause | undefined => {
  const scheduling = schedulingOf(pod, events);
  if (scheduling) return told(scheduling);
  for (const { name, state = {} } of containersOf(pod)) {
    const found = waitingIn(state);
    if (found) return told(found, name);
  }
  const mount = hasStarted(pod) ? undefined : mountIn(events);
  if (mount) return told(mount);
  return isUnheardOf(pod) ? cause('capacity', `its node '${pod.spec.nodeName}' does not answer`) : undefined;
};

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
    const overdue = isOverdue(pod, now);
    if (overdue !== undefined)
      return overdue ? cause('ended', `its node '${pod.spec.nodeName}' is gone`) : undefined;
    return ofStandingPod(pod, events);
  }
  if (jobGone) return cause('ended', 'its Job was deleted');
  const failed = job && conditionOf(job, 'Failed');
  if (failed?.status === 'True')
    return cause('ended', 'its pod was gone before its result was read', failed.message);
  if (job && conditionOf(job, 'Complete')?.status === 'True')
    return cause('ended', 'its pod was gone before its result was read');
  const refusal = refusedPod(events);
  return refusal && told(refusal);
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

/** How each cause of cause-table.ts is recognized in what the API tells. Pure. */
import {
  conditionOf,
  endingIn,
  type FoundCause,
  isOverdue,
  mountIn,
  notStarted,
  refusedPod,
  schedulingOf,
  waitingIn,
} from '../../../shared/job/pod-causes.ts';
import { type Cause, cause, type CauseName } from './cause-table.ts';
import { type EventObject, type JobObject, type Pod, stateOf } from './objects.ts';

/**
 * Its node is not heard of: the node controller says that the pod is not ready, and nobody says that its container ended. A
 * container without a readiness probe is ready for as long as it runs.
 */
export const isUnheardOf = (pod: Pod): boolean =>
  conditionOf(pod, 'Ready')?.status === 'False' && stateOf(pod).running !== undefined;

const named = (found: FoundCause | undefined): Cause | undefined => found && cause(found.name, found.said);

/** Everything that is known of a session's objects. */
export interface Situation {
  job: JobObject | undefined;
  /** It was there, and is no more. */
  jobGone: boolean;
  pods: readonly Pod[];
  /** UID of the pod that an earlier runner saw. */
  knownPod?: string | undefined;
  /** UIDs of pods that went away. */
  gonePods: ReadonlySet<string>;
  /** Of the Job and its pods, newest last; empty when they can't be listed. */
  events: readonly EventObject[];
  /** ms since the epoch. */
  now: number;
}

/** What keeps a pod from running, or from being heard of. */
const standingOf = (pod: Pod, events: readonly EventObject[]): Cause | undefined => {
  const state = stateOf(pod);
  const found =
    schedulingOf(pod, events) ?? (state.waiting ? (waitingIn(state) ?? mountIn(events)) : undefined);
  return named(found) ?? (isUnheardOf(pod) ? cause('node-away', `'${pod.spec.nodeName}'`) : undefined);
};

const ofPod = (pod: Pod, events: readonly EventObject[], now: number): Cause | undefined => {
  const state = stateOf(pod);
  const ending = endingIn(pod, isUnheardOf(pod));
  if (ending) return named(ending);
  if (state.terminated) {
    if (state.terminated.reason === 'OOMKilled') return cause('out-of-memory');
    const found = named(notStarted(state));
    return found && { ...found, kind: 'final' };
  }
  const overdue = isOverdue(pod, now);
  if (overdue !== undefined)
    return overdue ? cause('node-gone', 'it does not confirm that the pod ended') : undefined;
  return standingOf(pod, events);
};

/** What stands in the way of a session, or ended it; undefined while all is well, or when the session ended by itself. */
export const causeOf = (situation: Situation): Cause | undefined => {
  const { job, jobGone, pods, knownPod, gonePods, events, now } = situation;
  const uids = new Set([
    ...pods.map((one) => one.metadata.uid),
    ...gonePods,
    ...(knownPod ? [knownPod] : []),
  ]);
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
  return named(refusedPod(events));
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

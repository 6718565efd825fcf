/** Gathers result lines of a run's Jobs until every trial has one, or nothing more can come. */
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { Trial, Trials } from '../../../schemas/trials.ts';
import {
  ApiError,
  type Cluster,
  ConnectionError,
  isForbidden,
  isNotFound,
} from '../../../shared/kubernetes.ts';
import { type Cause, causeOf } from './causes.ts';
import { GATE, isOver, statusOf, type TrialEvent, type TrialPod } from './objects.ts';
import type { Observer, SeenJob } from './observe.ts';
import { voided } from './outages.ts';
import { type Expected, type Found, keptLine, lastWords, lineIn, lostLine } from './result.ts';

/** How far a trial is. */
export type Standing =
  /** No Job of it is there. */
  | { is: 'absent' }
  /** Its Job is there; what stands in its way, when something does. */
  | { is: 'open'; cause?: Cause; started: boolean }
  | { is: 'line'; line: TrialLine };

/** A gate prints one line; more is somebody's mistake and not read. */
const MOST_LOG = 1 << 20;

/** What a cause that won't pass by itself has to stand, and since when it does. */
export class Settling {
  readonly #settle_ms: number;
  readonly #since = new Map<string, { why: string; at: number }>();

  constructor(settle_ms: number) {
    this.#settle_ms = settle_ms;
  }

  /** Whether it has stood long enough to give the trial up. */
  isOver(uid: string, found: Cause | undefined, now: number): boolean {
    if (found?.kind !== 'structural') {
      this.#since.delete(uid);
      return found?.kind === 'ended';
    }
    const before = this.#since.get(uid);
    // The words change with every try of the same thing; their beginning does not.
    const why = found.why.split(':')[0]!;
    if (before?.why !== why) this.#since.set(uid, { why, at: now });
    return now - this.#since.get(uid)!.at >= this.#settle_ms;
  }
}

export interface Collecting {
  cluster: Cluster;
  trials: Trials;
  observer: Observer;
  settling: Settling;
  signal: AbortSignal;
  /** By the Job's UID: what came of it, and of which version of its objects that is. */
  settled: Map<string, { standing: Standing; version: string }>;
  now(): number;
}

/** Tries of a log, and the pause between them, ms: what a node can't give now it may give in a moment. */
const TRIES = 3;
const PAUSE_MS = 1000;

/** The log of a gate whose last words hold no line; '' when it can't be read any more. */
const logOf = async ({ cluster, trials, signal }: Collecting, pod: string): Promise<string> => {
  const about = { namespace: trials.namespace, pod, container: GATE, limitBytes: MOST_LOG };
  for (let tries = 1; ; tries++)
    try {
      const parts: Uint8Array[] = [];
      for await (const part of cluster.log(about, signal)) parts.push(part.slice());
      return Buffer.concat(parts).toString('utf8');
    } catch (error) {
      // Whoever may not read it must not take what stands in it for lost.
      if (isForbidden(error) || !(error instanceof ApiError || error instanceof ConnectionError)) throw error;
      if (isNotFound(error) || tries === TRIES) return '';
      await Bun.sleep(PAUSE_MS);
    }
};

const isGateOver = (pod: TrialPod | undefined): boolean =>
  pod !== undefined && statusOf(pod, GATE)?.terminated !== undefined;

/** The pod of a Job as it is now: two watches tell of a Job's end and of its pod's in any order. */
const podNow = async ({ cluster, trials }: Collecting, uid: string): Promise<TrialPod | undefined> => {
  const labelSelector = `batch.kubernetes.io/controller-uid=${uid}`;
  return (await cluster.list<TrialPod>('pods', { namespace: trials.namespace, labelSelector }))[0];
};

/** What a gate left, when it is over. */
const foundIn = async (
  about: Collecting,
  expected: Expected,
  pod: TrialPod,
  isThere: boolean,
): Promise<Found> => {
  const found = lineIn(lastWords(pod), expected);
  if ((found && 'line' in found) || !isThere || !isGateOver(pod)) return found;
  return lineIn(await logOf(about, pod.metadata.name), expected) ?? found;
};

/** A line that can't be read is the reason when its gate ended in order; else whatever ended the gate is. */
const lossOf = (found: Found, cause: Cause, pod: TrialPod | undefined): Pick<Cause, 'why' | 'fault'> =>
  found && 'wrong' in found && pod && statusOf(pod, GATE)?.terminated?.exitCode === 0
    ? { why: found.wrong, fault: 'infrastructure' }
    : cause;

/** What a Job came to. A line of the gate is believed whatever else happened; without one the API says why. */
const standingOf = async (
  about: Collecting,
  trial: Trial,
  seen: SeenJob,
  events: readonly TrialEvent[],
): Promise<Standing> => {
  const expected: Expected = { trial, model: about.trials.model.id };
  const { uid, name } = seen.job.metadata;
  const of = { name, uid };
  const causeNow = ({ job, gone, pod, podGone }: SeenJob): Cause | undefined =>
    causeOf({ job, jobGone: gone, pod, podGone, events, now: about.now() });
  const { pod: told, podGone: goneToo } = seen;
  // A Job that is over has a pod that is: whatever was told of it last.
  const behind = isOver(seen.job) && told !== undefined && !goneToo && !isGateOver(told);
  let sight = behind ? { ...seen, pod: (await podNow(about, uid)) ?? told } : seen;
  let cause = causeNow(sight);
  let found: Found;
  // Before a trial is given up its pod is looked at once more.
  for (const again of [false, true]) {
    const { pod, podGone } = sight;
    found = pod && (await foundIn(about, expected, pod, !podGone));
    if (pod && found && 'line' in found) {
      const kept = keptLine(found.line, of, pod);
      return { is: 'line', line: voided(kept, pod, about.observer.moments) };
    }
    if (again || !about.settling.isOver(uid, cause, about.now())) break;
    const now = await podNow(about, uid);
    sight = now ? { ...sight, pod: now, podGone: false } : { ...sight, podGone: sight.pod !== undefined };
    cause = causeNow(sight);
  }
  const { pod } = sight;
  if (cause && about.settling.isOver(uid, cause, about.now()))
    return { is: 'line', line: lostLine(expected, lossOf(found, cause, pod), of, pod) };
  const started = pod?.status.containerStatuses?.some((one) => one.state?.running) ?? false;
  return { is: 'open', started, ...(cause ? { cause } : {}) };
};

const versionOf = ({ job, gone, pod, podGone }: SeenJob): string =>
  [job.metadata.resourceVersion, gone, pod?.metadata.resourceVersion, podGone].join(' ');

/**
 * How far each of these trials is. Events are asked for only when a Job that is not over has not started: only they tell
 * why then.
 */
export const standings = async (
  about: Collecting,
  wanted: readonly Trial[],
): Promise<Map<Trial, Standing>> => {
  const named = about.observer.jobsNamed();
  const waits = (seen: SeenJob | undefined): boolean =>
    seen !== undefined && !seen.gone && !isOver(seen.job) && seen.pod?.status.phase !== 'Running';
  const events = wanted.some((one) => waits(named.get(one.job))) ? await about.observer.events() : [];
  const byUid = Map.groupBy(events, (one) => one.involvedObject?.uid ?? '');
  const found = new Map<Trial, Standing>();
  for (const trial of wanted) {
    const seen = named.get(trial.job);
    if (!seen) {
      found.set(trial, { is: 'absent' });
      continue;
    }
    const { uid } = seen.job.metadata;
    const [known, version] = [about.settled.get(uid), versionOf(seen)];
    if (known?.version === version) {
      found.set(trial, known.standing);
      continue;
    }
    const mine = [uid, seen.pod?.metadata.uid].flatMap((one) => byUid.get(one ?? '-') ?? []);
    const standing = await standingOf(about, trial, seen, mine);
    // A Job that is given up may still come to something, when anything about it changes.
    if (standing.is === 'line') about.settled.set(uid, { standing, version });
    found.set(trial, standing);
  }
  return found;
};

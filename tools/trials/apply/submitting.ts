/** Submits Jobs, at most so many at once, waiting where the cluster has no room for more. */
import type { Trial, Trials } from '../../../schemas/trials.ts';
import { failed, Failure } from '../../../shared/failure.ts';
import { EXIT } from '../../../shared/exit.ts';
import { ApiError, type Cluster, ConnectionError, isNotFound, isStatus } from '../../../shared/kubernetes.ts';
import { type Cause, causeOf } from '../collect/causes.ts';
import { RUN } from '../../../shared/task-run/names.ts';
import { conditionOf } from '../../../shared/job/pod-causes.ts';
import type { TrialJob } from '../collect/objects.ts';
import type { Observer, SeenJob } from '../collect/observe.ts';
import type { Progress } from '../collect/progress.ts';
import type { JobManifest } from './documents.ts';
import { unfinished } from './plan.ts';

/** Who we are to server-side apply. */
const MANAGER = 'k8sbench-trials';
const TICK_MS = 2000;
/** A Job has a pod long before; after so long something refuses it. */
const POD_MS = 5000;
/** How long to leave a cluster alone that has no room for another Job. */
const FULL_MS = 5000;

export interface Submitting {
  cluster: Cluster;
  trials: Trials;
  observer: Observer;
  atOnce: number;
  manifestOf(trial: Trial): JobManifest;
  progress: Progress;
  signal: AbortSignal;
  settle_ms: number;
  now(): number;
}

/** `full`: what the cluster says of why there is no room. */
type Outcome = 'submitted' | 'there' | 'wait' | { full: string };

/** One Job, unless its name is taken: another's Job is never changed. */
const submitOne = async ({ cluster, trials, manifestOf }: Submitting, trial: Trial): Promise<Outcome> => {
  const at = { namespace: trials.namespace, name: trial.job };
  try {
    const found = await cluster.get<TrialJob>('jobs', at);
    if (found.metadata.labels?.[RUN] !== trials.run)
      throw failed(
        `namespace '${at.namespace}' has a Job '${at.name}' that is not of run '${trials.run}'; it is left alone: remove it, or use another namespace`,
      );
    return found.metadata.deletionTimestamp === undefined ? 'there' : 'wait';
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await cluster.apply<TrialJob>('jobs', at, manifestOf(trial), { manager: MANAGER });
    return 'submitted';
  } catch (error) {
    if (error instanceof ApiError && error.code === 403 && /exceeded quota/.test(error.detail))
      return { full: error.detail };
    if (isStatus(error, 409))
      throw failed(
        `namespace '${at.namespace}' has a Job '${at.name}' that somebody made a moment ago; it is left alone: call 'k8sbench trials apply' again to see whose it is`,
      );
    // Asked again it is there or not.
    if (error instanceof ConnectionError && !error.final) return 'wait';
    throw error;
  }
};

/** Watches for Jobs that don't get their pod. */
class Refusals {
  readonly #about: Submitting;
  /** By the Job's UID: since when it has no pod, by the monotonic clock. */
  readonly #since = new Map<string, number>();
  #structuralSince: number | undefined;
  #told = '';

  constructor(about: Submitting) {
    this.#about = about;
  }

  #waits({ job, pod }: SeenJob): boolean {
    const suspended = conditionOf(job, 'Suspended')?.status === 'True';
    if (suspended || pod !== undefined || (job.status?.active ?? 0) > 0) return false;
    const { uid } = job.metadata;
    if (!this.#since.has(uid)) this.#since.set(uid, performance.now());
    return performance.now() - this.#since.get(uid)! > POD_MS;
  }

  /** Why no pod comes; undefined when all have theirs. What won't pass by itself ends the submitting once it stood. */
  async now(jobs: readonly SeenJob[]): Promise<Cause | undefined> {
    const waiting = jobs.filter((one) => this.#waits(one));
    if (waiting.length === 0) {
      this.#told = '';
      return undefined;
    }
    const { observer, progress, settle_ms, now } = this.#about;
    const events = await observer.events();
    const causes = waiting.flatMap((seen) => {
      const mine = events.filter((one) => one.involvedObject?.uid === seen.job.metadata.uid);
      const found = causeOf({ ...seen, jobGone: false, events: mine, now: now() });
      return found ? [{ found, name: seen.job.metadata.name }] : [];
    });
    const structural = causes.find((one) => one.found.kind === 'structural');
    this.#structuralSince = structural ? (this.#structuralSince ?? performance.now()) : undefined;
    if (structural && performance.now() - this.#structuralSince! >= settle_ms)
      throw failed(
        `the Job '${structural.name}' gets no pod: ${structural.found.why}; no more are submitted: change that, or leave its task out ('trials --tasks')`,
      );
    const first = causes[0]?.found ?? {
      kind: 'capacity',
      fault: 'infrastructure',
      why: 'Jobs wait for their pods',
    };
    const beginning = first.why.split(':')[0]!;
    if (beginning !== this.#told) progress.say(`${first.why}; waiting`);
    this.#told = beginning;
    return first;
  }
}

/** Submits all of them in their order; gives how many it was that were not there yet. */
export const submitAll = async (about: Submitting, wanted: readonly Trial[]): Promise<number> => {
  const { observer, trials, atOnce, progress, signal } = about;
  const queue = [...wanted];
  const refusals = new Refusals(about);
  /** Submitted, and not told by the watch yet. */
  const underway = new Set<string>();
  let submitted = 0;
  let fullUntil = 0;
  let toldFull = false;
  while (queue.length > 0) {
    if (signal.aborted)
      throw new Failure(
        EXIT.interrupted,
        `interrupted: ${submitted} Jobs submitted, ${queue.length} left; the same command goes on`,
      );
    const jobs = observer.jobsNamed();
    for (const name of underway) if (jobs.has(name)) underway.delete(name);
    const open = unfinished(jobs);
    progress.show(
      `${trials.trials.length - queue.length} of ${trials.trials.length} Jobs submitted, ${open.length} not over (at most ${atOnce} at once)`,
    );
    const refused = observer.away ? undefined : await refusals.now(open);
    let room =
      refused || observer.away || performance.now() < fullUntil ? 0 : atOnce - open.length - underway.size;
    for (; room > 0 && queue.length > 0 && !signal.aborted; room--) {
      const trial = queue[0]!;
      const outcome = await submitOne(about, trial);
      if (typeof outcome === 'object' && !toldFull)
        progress.say(`the namespace's quota has no room for another Job now: ${outcome.full}; waiting`);
      toldFull = typeof outcome === 'object';
      if (outcome === 'wait' || toldFull) {
        fullUntil = performance.now() + FULL_MS;
        break;
      }
      queue.shift();
      underway.add(trial.job);
      if (outcome === 'submitted') submitted++;
    }
    if (queue.length > 0) await observer.changed(TICK_MS, signal);
  }
  return submitted;
};

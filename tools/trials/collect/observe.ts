/** Keeps what the API tells of a run's Jobs and their pods up to date. */
import { failed } from '../../../shared/failure.ts';
import { type Cluster, isForbidden, type WatchEvent } from '../../../shared/kubernetes.ts';
import type { Trials } from '../../../schemas/trials.ts';
import { INSTANCE, modelName, RUN } from '../../../shared/task-run/names.ts';
import { EngineEnds, engineMoments } from './outages.ts';
import { ownerOf, type TrialEvent, type TrialJob, type TrialPod } from './objects.ts';

/** One Job as it is or was last, and its pod. */
export interface SeenJob {
  job: TrialJob;
  gone: boolean;
  pod: TrialPod | undefined;
  podGone: boolean;
}

/** The API server may be away for so long, ms; the Jobs go on without us. */
const AWAY_MS = 10 * 60_000;
const EVENTS_EVERY_MS = 10_000;
/** Which events say why a pod does not run: warnings, and that an autoscaler makes room. */
const TELLING = ['type=Warning', 'reason=TriggeredScaleUp'];

const nothing = (): void => undefined;

/** A run's objects, until `signal` stops the watching. */
export class Observer {
  readonly #cluster: Cluster;
  readonly #namespace: string;
  readonly #say: (text: string) => void;
  /** By the Job's UID. */
  readonly #jobs = new Map<string, SeenJob>();
  readonly #pods = new Map<string, { pod: TrialPod; gone: boolean }>();
  readonly #listed = new Set<string>();
  #events: TrialEvent[] = [];
  #eventsAt = -Infinity;
  #failure: unknown;
  #wake = nothing;
  #news = false;
  /** When the model's engine began or ended, ms since the epoch. */
  readonly moments = new Set<number>();
  readonly #ends = new EngineEnds();
  /** By watch: since when it is in trouble, by the monotonic clock, and what it says. */
  readonly #troubles = new Map<string, { since: number; trouble: string }>();

  constructor(
    cluster: Cluster,
    { namespace, run, model }: Pick<Trials, 'namespace' | 'run' | 'model'>,
    signal: AbortSignal,
    say: (text: string) => void,
  ) {
    this.#cluster = cluster;
    this.#say = say;
    this.#namespace = namespace;
    const scope = { namespace, labelSelector: `${RUN}=${run}` };
    const engine = { namespace, labelSelector: `${INSTANCE}=${modelName(model.id)}` };
    for (const one of [
      this.#watchJobs(scope, signal),
      this.#watchPods(scope, signal),
      this.#watchModel(engine, signal),
    ])
      one.catch((error: unknown) => {
        this.#failure ??= error;
        this.#tell();
      });
  }

  #tell(): void {
    this.#news = true;
    this.#wake();
  }

  #contact(event: WatchEvent<unknown>, what: string): void {
    if (event.type !== 'trouble') this.#troubles.delete(what);
    else if (!this.#troubles.has(what))
      this.#troubles.set(what, { since: performance.now(), trouble: event.error.message });
    if (event.type === 'complete') this.#listed.add(what);
    this.#tell();
  }

  async #watchJobs(scope: object, signal: AbortSignal): Promise<void> {
    for await (const event of this.#cluster.watch<TrialJob>('jobs', scope, signal)) {
      if (event.type === 'is' || event.type === 'gone') {
        const { uid } = event.object.metadata;
        const found = this.#podOf(uid);
        this.#jobs.set(uid, { job: event.object, gone: event.type === 'gone', ...found });
      }
      this.#contact(event, 'jobs');
    }
  }

  async #watchPods(scope: object, signal: AbortSignal): Promise<void> {
    for await (const event of this.#cluster.watch<TrialPod>('pods', scope, signal)) {
      if (event.type === 'is' || event.type === 'gone') {
        const owner = ownerOf(event.object);
        if (owner !== undefined) {
          // Its last state says why it went.
          this.#pods.set(owner, { pod: event.object, gone: event.type === 'gone' });
          const seen = this.#jobs.get(owner);
          if (seen) Object.assign(seen, this.#podOf(owner));
        }
      }
      this.#contact(event, 'pods');
    }
  }

  async #watchModel(scope: object, signal: AbortSignal): Promise<void> {
    for await (const event of this.#cluster.watch<TrialPod>('pods', scope, signal)) {
      if (event.type === 'is' || event.type === 'gone') {
        for (const one of engineMoments(event.object)) this.moments.add(one);
        const untold = this.#ends.untold(event.object);
        if (untold)
          this.#say(
            `the model's server ended ${untold.ends} more ${untold.ends === 1 ? 'time' : 'times'} before ${untold.before}, and nobody saw when: a trial that was at work then is not void; 'collect' beside 'apply' sees every end`,
          );
      }
      this.#contact(event, 'model');
    }
  }

  #podOf(uid: string): Pick<SeenJob, 'pod' | 'podGone'> {
    const found = this.#pods.get(uid);
    return { pod: found?.pod, podGone: found?.gone ?? false };
  }

  /** The watch that has been in trouble for longest: what it tells of is as it was then, whatever the others tell. */
  get away(): { since: number; trouble: string } | undefined {
    return [...this.#troubles.values()].toSorted((a, b) => a.since - b.since)[0];
  }

  /** Everything that was there has been told. */
  get listed(): boolean {
    return this.#listed.size === 3;
  }

  /** Jobs of this name, in the order they were first seen; the last one is the one that is there, if any is. */
  jobsNamed(): Map<string, SeenJob> {
    const found = new Map<string, SeenJob>();
    for (const seen of this.#jobs.values()) {
      const before = found.get(seen.job.metadata.name);
      if (!before || before.gone || !seen.gone) found.set(seen.job.metadata.name, seen);
    }
    return found;
  }

  /** What events tell of objects of the namespace, asked for at most every few seconds. */
  async events(): Promise<readonly TrialEvent[]> {
    if (performance.now() - this.#eventsAt < EVENTS_EVERY_MS) return this.#events;
    this.#eventsAt = performance.now();
    try {
      const found = await Promise.all(
        TELLING.map((fieldSelector) =>
          this.#cluster.list<TrialEvent>('events', { namespace: this.#namespace, fieldSelector }),
        ),
      );
      this.#events = found.flat();
    } catch (error) {
      // They only explain: a server that is away is told by the watches.
      if (!isForbidden(error)) return this.#events;
      this.#eventsAt = Infinity;
      this.#say(`${error.message}; why a Job gets no pod can't be told`);
    }
    return this.#events;
  }

  /** Resolves at the next change, after `ms`, or when `signal` is aborted; throws what can't pass. */
  async changed(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#news)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          this.#wake = nothing;
          resolve();
        };
        const timer = setTimeout(done, ms);
        this.#wake = done;
        if (signal.aborted) done();
        else signal.addEventListener('abort', done, { once: true });
      });
    this.#news = false;
    if (this.#failure !== undefined) throw this.#failure;
    const { away } = this;
    if (away && performance.now() - away.since > AWAY_MS)
      throw failed(`${away.trouble}; the Jobs go on: call it again once the API server is back`);
  }
}

/** Watches what stands in a session's way: asks for events where only they tell, tells people once, decides when it is enough. */
import { ApiError, type Cluster, isForbidden } from '../../../shared/kubernetes.ts';
import type { Task } from '../task.ts';
import { awakeNow } from './awake.ts';
import { cause as causeNamed, type Cause } from './cause-table.ts';
import { causeOf, Settling, VAGUE } from './causes.ts';
import { type EventObject, type JobObject, type Pod, stateOf } from './objects.ts';
import type { Observer } from './observe.ts';
import { AWAY_MS, LeftRunning } from './patience.ts';

export interface Watched {
  task: Task;
  cluster: Cluster;
  namespace: string;
  manifest: Record<string, unknown>;
  observer: Observer;
}

const EVENTS_EVERY_MS = 3000;
/** How long a better explanation may take to come, ms. */
const EXPLAINING_MS = 3000;

export class CauseWatch {
  readonly #in: Watched;
  readonly #settling: Settling;
  #events: EventObject[] = [];
  #eventsAt = -Infinity;
  #told: string | undefined;
  #toldAway = false;
  #toldRoom = false;

  constructor(watched: Watched) {
    this.#in = watched;
    this.#settling = new Settling(watched.task.settle_s * 1000);
  }

  /** What stands in the way now; said when it is new. */
  async now(pod: Pod | undefined, stopping: boolean): Promise<Cause | undefined> {
    const waits =
      !pod ||
      (pod.status.phase === 'Pending' && !stateOf(pod).running) ||
      pod.metadata.deletionTimestamp !== undefined;
    if (waits && performance.now() - this.#eventsAt > EVENTS_EVERY_MS) await this.#readEvents(pod);
    const cause = this.#cause();
    this.#tell(cause, stopping);
    return cause;
  }

  /** A second pod, as far as is known now: it voids the run whatever the log says. */
  secondPod(): Cause | undefined {
    const found = this.#cause();
    return found?.name === 'second-pod' ? found : undefined;
  }

  /** True when it ends the run. */
  ends(cause: Cause | undefined): boolean {
    return this.#settling.ends(cause, awakeNow());
  }

  /** Why a session ended: some causes are explained by a better one a moment later. */
  async lastWord(cause: Cause | undefined, stopping: boolean): Promise<Cause | undefined> {
    if (stopping) return cause;
    const until = performance.now() + EXPLAINING_MS;
    let found = cause;
    while ((found?.kind !== 'final' || VAGUE.has(found.name)) && performance.now() <= until) {
      await this.#in.observer.changed(200);
      found = this.#cause();
    }
    const told = found ?? cause;
    const deleted = told !== undefined && VAGUE.has(told.name);
    return deleted && (await this.#namespaceGoes()) ? causeNamed('namespace-terminating') : told;
  }

  /** Whether it was deleted with its whole namespace: the right to read that is not needed, nothing new is admitted into it. */
  async #namespaceGoes(): Promise<boolean> {
    const { cluster, namespace, manifest } = this.#in;
    try {
      await cluster.create('jobs', { namespace }, manifest, { dryRun: true });
      return false;
    } catch (error) {
      return error instanceof ApiError && /being terminated|namespaces? \S+ not found/.test(error.detail);
    }
  }

  /** Says when the API server is away and back again; leaves the session to itself when that takes too long. */
  tellAway(): void {
    const { awaySince, trouble } = this.#in.observer.seen;
    const { talk } = this.#in.task;
    if (awaySince === undefined) {
      if (this.#toldAway) talk.info('the API server is back');
      this.#toldAway = false;
      return;
    }
    if (awakeNow() - awaySince > AWAY_MS) throw new LeftRunning(`the API server is away: ${trouble}`);
    if (!this.#toldAway) talk.warn(`${trouble}; the session goes on, waiting for the API server`);
    this.#toldAway = true;
  }

  /** Where pulls and mounts fail, and why no pod comes, only events tell. */
  async #readEvents(pod: Pod | undefined): Promise<void> {
    const { cluster, namespace, task } = this.#in;
    this.#eventsAt = performance.now();
    const found: EventObject[] = [];
    for (const uid of [task.job.job.job!.uid, ...(pod ? [pod.metadata.uid] : [])])
      try {
        const about = { namespace, fieldSelector: `involvedObject.uid=${uid}` };
        found.push(...(await cluster.list<EventObject>('events', about)));
      } catch (error) {
        // They only explain: a server that is away is told by the watch.
        if (!isForbidden(error)) continue;
        this.#eventsAt = Infinity;
        task.talk.warn(`${error.message}; why its pod does not start can't be told`);
        break;
      }
    this.#events = found;
  }

  #cause(): Cause | undefined {
    const { seen } = this.#in.observer;
    return causeOf({
      job: seen.job,
      jobGone: seen.jobGone,
      pods: [...seen.pods.values()],
      knownPod: this.#in.task.job.job.pod?.uid,
      gonePods: seen.gonePods,
      events: this.#events,
      now: this.#in.task.world.now(),
    });
  }

  #tell(cause: Cause | undefined, stopping: boolean): void {
    const said = cause && `${cause.name} ${cause.message}`;
    if (said === this.#told) return;
    this.#told = said;
    if (!cause || cause.kind === 'final' || stopping) return;
    const { task } = this.#in;
    const patience =
      cause.kind === 'capacity'
        ? `waiting${this.#untilDeadline()}`
        : `waiting ${task.settle_s} s for a change`;
    task.talk.warn(`'${task.run.shown}': ${cause.message}; ${patience}`);
    if (cause.name !== 'no-room' || this.#toldRoom) return;
    this.#toldRoom = true;
    task.talk.info(`'k8sbench preflight --run ${task.run.shown}' tells whether any node could ever hold it`);
  }

  /** When waiting ends: the Job's deadline counts from its start, a moment after it was submitted, whether its pod runs or not. */
  #untilDeadline(): string {
    const { observer, manifest, task } = this.#in;
    const { spec } = manifest as Pick<JobObject, 'spec'>;
    const submitted = task.job.job.timeline.findLast((one) => one.event === 'submitted')?.at;
    const from = Date.parse(observer.seen.job?.status?.startTime ?? submitted ?? '');
    const deadline = from + (spec?.activeDeadlineSeconds ?? NaN) * 1000;
    if (!(deadline > 0)) return '';
    return ` until its Job's deadline, ${new Date(deadline).toISOString().replace(/\.\d+/, '')}`;
  }
}

/** One session in a cluster, from its Job to its saved log. Every stage can be taken up by a later process. */
import { differences } from '../../../shared/admitted-pod.ts';
import { EXIT } from '../../../shared/exit.ts';
import type { Cluster } from '../../../shared/kubernetes.ts';
import type { Ending } from '../ending.ts';
import { liveOn } from '../live.ts';
import { LOG } from '../log-file.ts';
import { Progress } from '../progress.ts';
import type { Task } from '../task.ts';
import { CauseWatch } from './cause-watch.ts';
import type { Cause } from './cause-table.ts';
import { endingInCluster } from './ending.ts';
import { follow } from './follow.ts';
import { clusterFacts } from './node-facts.ts';
import { type Pod, stateOf } from './objects.ts';
import { observe, type Observer } from './observe.ts';
import { LeftRunning, patiently } from './patience.ts';
import { PodLog, savedLog } from './pod-log.ts';
import { submit } from './submit.ts';

/** What a way of delivery does beside the common rest. */
export interface Carrier {
  /** Called once the container runs, before its log says anything; absent: the pod has everything. */
  deliver?(pod: Pod, signal: AbortSignal): Promise<void>;
  /** The whole log from the pod's own copy; undefined when there is none to be had. */
  spool?(pod: Pod, take: (block: Uint8Array) => void, signal: AbortSignal): Promise<void>;
  /** The log is saved: the pod may end. */
  acknowledge?(pod: Pod): Promise<void>;
}

export interface InCluster {
  task: Task;
  cluster: Cluster;
  namespace: string;
  manifest: Record<string, unknown>;
  carrier: Carrier;
  /** An earlier runner began it. */
  attaching: boolean;
  /** Told to leave it to itself (SIGHUP). */
  hangup: AbortSignal;
}

/** How often causes are looked at while nothing changes, and while it is about to stop, ms. */
const TICK_MS = 1000;
const SOON_MS = 100;
/** How long a session that was told to stop may take to say its last words, ms. */
const STOPPING_MS = 45_000;
/** How long a log may take to begin before a session is stopped without it, ms. */
const LISTENING_MS = 5000;
/** How long the rest of a log may take after its pod has failed, ms. */
const DRAIN_MS = 15_000;

export class ClusterSession {
  readonly #in: InCluster;
  readonly #stop = new AbortController();
  #observer: Observer | undefined;
  #stopping = false;

  constructor(about: InCluster) {
    this.#in = about;
  }

  get #name(): string {
    return this.#in.task.run.name;
  }

  get #pod(): Pod | undefined {
    return [...(this.#observer?.seen.pods.values() ?? [])][0];
  }

  /** Its container has ended, or will not run any more. */
  readonly #isOver = (): boolean => {
    const pod = this.#pod;
    return (
      pod !== undefined &&
      (stateOf(pod).terminated !== undefined ||
        ['Succeeded', 'Failed'].includes(pod.status.phase ?? '') ||
        this.#observer!.seen.gonePods.has(pod.metadata.uid))
    );
  };

  async measure(): Promise<Ending> {
    const { task, attaching } = this.#in;
    const { job, run } = task;
    try {
      // A runner that was killed while it cleaned up has everything.
      if (run.has(LOG)) return await this.#finish(savedLog(run), undefined);
      const place = { ...this.#in, ...task, name: this.#name };
      const uid = job.job.job?.uid ?? (await submit(place, attaching, this.#stopped() === undefined));
      if (uid === undefined)
        return {
          outcome: 'interrupted',
          exit: EXIT.interrupted,
          message: `stopped by ${this.#stopped()} before it was begun`,
        };
      this.#observer = observe(
        this.#in.cluster,
        { namespace: this.#in.namespace, name: this.#name, uid },
        this.#stop.signal,
      );
      return await this.#watchOver();
    } catch (error) {
      // What can't go on here must not go on there, either.
      if (!(error instanceof LeftRunning)) await this.#remove().catch(() => undefined);
      throw error;
    } finally {
      this.#stop.abort();
    }
  }

  async #watchOver(): Promise<Ending> {
    const { task, carrier, cluster, namespace, hangup } = this.#in;
    const { world, talk, run, job } = task;
    const live = liveOn(world, talk);
    const watch = new CauseWatch({ task, cluster, namespace, observer: this.#observer! });
    const progress = new Progress(task.plan);
    const log = new PodLog(run, (line) => {
      if (line.t === 'pin' && job.job.timeline.every((one) => one.event !== 'measuring'))
        job.note('measuring');
      if (progress.take(line, world.now())) live.show(() => progress.view(), world.now());
    });
    const wake = AbortSignal.any([hangup, world.interrupted, ...(task.stop ? [task.stop] : [])]);
    let following: Promise<void> | undefined;
    let followed = false;
    let failure: unknown;
    let delivering: Promise<void> | undefined;
    let delivered = log.next > 0 || carrier.deliver === undefined;
    let checked = job.job.pod !== undefined;
    let cause: Cause | undefined;
    let deadline = Infinity;
    let stopAt: number | undefined;
    let voided: Ending | undefined;
    try {
      while (!followed) {
        const stopped = this.#stopped();
        if (
          stopped !== undefined &&
          !this.#stopping &&
          this.#mayStop(log, delivered, (stopAt ??= performance.now()))
        ) {
          this.#stopping = true;
          talk.info(`stopping the session: its Job is deleted, its log saved`);
          await this.#remove();
          deadline = performance.now() + STOPPING_MS;
        }
        if (hangup.aborted) throw new LeftRunning('left to itself', EXIT.interrupted);
        watch.tellAway();
        const pod = this.#pod;
        if (pod && !checked && pod.status.qosClass !== undefined) {
          checked = true;
          voided = this.#refuseOther(pod);
          if (voided) break;
        }
        if (pod && checked) this.#note(pod);
        const state = pod && stateOf(pod);
        if (pod && state?.running && !delivered && !delivering && !this.#stopping)
          delivering = carrier.deliver!(pod, AbortSignal.any([this.#stop.signal, wake])).then(
            () => void (delivered = true),
            (error: unknown) => void (failure = error),
          );
        if (pod && checked && delivered && task.detach && !this.#stopping)
          throw new LeftRunning('', EXIT.done);
        // Without a container there is nothing to read; one that ended before it got its bundle has said why.
        if (
          pod &&
          !following &&
          (delivered || this.#isOver()) &&
          (state?.running || state?.terminated || this.#isOver())
        )
          following = follow({
            cluster,
            namespace,
            pod: pod.metadata.name,
            log,
            isOver: this.#isOver,
            signal: this.#stop.signal,
          }).then(
            () => void (followed = true),
            (error: unknown) => void (failure = error),
          );
        if (failure !== undefined && stopped === undefined && !this.#isOver()) throw failure;
        if (failure !== undefined && stopped === undefined) break;
        cause = await watch.now(this.#pod, this.#stopping);
        if (watch.ends(cause) && deadline === Infinity)
          deadline = performance.now() + (following ? DRAIN_MS : 0);
        if (this.#stopping && (!pod || this.#observer!.seen.gonePods.has(pod.metadata.uid)) && !following)
          break;
        if (performance.now() > deadline) break;
        await Promise.race([
          this.#observer!.changed(
            Math.min(stopAt === undefined ? TICK_MS : SOON_MS, Math.max(0, deadline - performance.now())),
            stopAt === undefined ? wake : hangup,
          ),
          ...(following && !followed ? [following] : []),
        ]);
      }
      if (log.gap && log.ended) await this.#fromSpool(log);
      if (!log.state().complete && !voided) cause = await watch.lastWord(cause, this.#stopping);
    } finally {
      log.close();
      if (log.next > 0) live.end(progress.view(), world.now());
    }
    if (voided) return this.#end(voided);
    return this.#finish({ state: log.state(), error: log.error }, cause, log.tail);
  }

  /** Its last words are lost once its pod is gone: what it says must be on its way here before it is told to stop. */
  #mayStop(log: PodLog, delivered: boolean, since: number): boolean {
    if (performance.now() - since > LISTENING_MS) return true;
    if (!this.#observer!.seen.listed) return false;
    const pod = this.#pod;
    return !pod || !stateOf(pod).running || !delivered || log.heard;
  }

  /** Why it must stop, when it must: the signal, or another session of the run that failed. */
  #stopped(): string | undefined {
    const { world, stop } = this.#in.task;
    if (world.interrupted.aborted) return String(world.interrupted.reason);
    return stop?.aborted ? String(stop.reason) : undefined;
  }

  /** The admitted pod is not the one that was asked for: void before anything is measured (DESIGN §4.4). */
  #refuseOther(pod: Pod): Ending | undefined {
    const found = differences(this.#in.manifest, pod);
    if (found.length === 0) return undefined;
    return {
      outcome: 'invalid',
      exit: EXIT.invalid,
      message: `the cluster changed the pod: ${found.join('; ')}; keep webhooks and limits away from it, or put what they set into the values file`,
    };
  }

  #note(pod: Pod): void {
    const { job } = this.#in.task;
    const { name, uid } = pod.metadata;
    const node = pod.spec.nodeName;
    if (job.job.pod?.uid !== uid) job.set({ pod: { name, uid, ...(node ? { node } : {}) } }, 'admitted');
    else if (node !== undefined && job.job.pod.node === undefined)
      job.set({ pod: { name, uid, node } }, 'scheduled');
    if (stateOf(pod).running && job.job.timeline.every((one) => one.event !== 'started')) job.note('started');
  }

  async #fromSpool(log: PodLog): Promise<void> {
    const { carrier, task } = this.#in;
    const pod = this.#pod;
    if (!carrier.spool || !pod || this.#isOver()) return;
    task.talk.info("the node rotated lines away before they were read; reading the pod's own copy");
    log.restart();
    await carrier.spool(pod, (block) => log.take(block), this.#stop.signal);
  }

  /** The log is saved: what was created is removed, then the run is closed. */
  async #finish(
    { state, error }: ReturnType<typeof savedLog>,
    cause: Cause | undefined,
    tail: readonly string[] = [],
  ): Promise<Ending> {
    const { carrier, cluster, task } = this.#in;
    const pod = this.#pod;
    const ending = endingInCluster({ log: state, error, tail, pod, cause, interrupted: this.#stopped() });
    if (pod?.spec.nodeName && !task.run.has('cluster.json'))
      task.run.writeJson('cluster.json', await clusterFacts(task, cluster, pod, task.readKubeletConfig));
    if (pod && state.complete && !this.#isOver() && !this.#stopping)
      await carrier
        .acknowledge?.(pod)
        .catch((failed: unknown) => task.talk.warn(String((failed as Error).message)));
    return this.#end(ending);
  }

  async #end(ending: Ending): Promise<Ending> {
    const { task } = this.#in;
    if (task.keep) task.talk.info(`the Job '${this.#name}' is kept`);
    else await this.#remove();
    return ending;
  }

  /** Deletes the Job, by its UID, and with it its pod. */
  async #remove(): Promise<void> {
    const { cluster, namespace, task } = this.#in;
    const uid = task.job.job.job?.uid;
    if (uid !== undefined)
      await patiently(task.talk, () => cluster.delete('jobs', { namespace, name: this.#name }, uid));
  }
}

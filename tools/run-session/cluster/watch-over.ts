/** Watches over one session from its Job to the end of its log: delivers, follows, stops it when asked to, ends it when it can't go on. */
import { EXIT } from '../../../shared/exit.ts';
import { differences } from '../../../shared/admitted-pod.ts';
import { type Live, liveOn } from '../live.ts';
import { Progress } from '../progress.ts';
import { awakeNow } from './awake.ts';
import type { Cause } from './cause-table.ts';
import { CauseWatch } from './cause-watch.ts';
import { follow } from './follow.ts';
import { type ContainerState, type Pod, stateOf } from './objects.ts';
import type { Observer } from './observe.ts';
import { isLocal, LeftRunning, patiently } from './patience.ts';
import { PodLog } from './pod-log.ts';
import type { InCluster } from './carrier.ts';

/** How often causes are looked at while nothing changes, and while it is about to stop, ms. */
const TICK_MS = 1000;
const SOON_MS = 100;
/** How long a session that was told to stop may take to say its last words, ms. */
const STOPPING_MS = 45_000;
/** How long a log may take to begin before a session is stopped without it, ms. */
const LISTENING_MS = 5000;
/** How long a stream of the log may be silent from its start before the pod's own copy is looked at, ms: the node may have rotated all of it away. */
const ROTATED_MS = 5000;
/** The highest exit status of a pod program that had its say; beyond are signals. */
const LAST_WORDS = 5;
/** How long the rest of a log may take after its pod has failed, ms. */
const DRAIN_MS = 15_000;

/** What watching came to. */
export interface Watched {
  log: PodLog;
  pod: Pod | undefined;
  cause: Cause | undefined;
  /** How the admitted pod differs from the one that was asked for: nothing may be measured in it. */
  differs: string[];
  /** Its container still runs. */
  lives: boolean;
}

export class WatchOver {
  readonly #in: InCluster;
  readonly #observer: Observer;
  readonly #signal: AbortSignal;
  readonly #remove: () => Promise<void>;
  readonly #causes: CauseWatch;
  readonly #progress: Progress;
  readonly #live: Live;
  readonly #log: PodLog;
  /** Ends the waiting for a change. */
  readonly #wake: AbortSignal;
  #following: Promise<void> | undefined;
  /** The stream in whose stead the pod's own copy was looked at, by its beginning. */
  #looked: number | undefined;
  #followed = false;
  #failure: unknown;
  #delivering: Promise<void> | undefined;
  #delivered: boolean;
  #checked: boolean;
  #differs: string[] = [];
  #cause: Cause | undefined;
  #deadline = Infinity;
  #stopAsked: number | undefined;
  #stopping = false;

  /** `remove` deletes the Job; `signal` ends everything that goes on beside. */
  constructor(about: InCluster, observer: Observer, signal: AbortSignal, remove: () => Promise<void>) {
    this.#in = about;
    this.#observer = observer;
    this.#signal = signal;
    this.#remove = remove;
    const { task, carrier, hangup } = about;
    const { job, run, talk, world } = task;
    this.#causes = new CauseWatch({ ...about, observer });
    this.#progress = new Progress(task.plan);
    this.#live = liveOn(world, talk);
    this.#log = new PodLog(run, (line) => {
      if (line.t === 'pin') this.#noteOnce('measuring');
      if (this.#progress.take(line, world.now())) this.#live.show(() => this.#progress.view(), world.now());
    });
    this.#delivered = this.#log.next > 0 || carrier.deliver === undefined;
    this.#checked = job.job.pod !== undefined;
    this.#wake = AbortSignal.any([hangup, world.interrupted, ...(task.stop ? [task.stop] : [])]);
  }

  /** The pod that was seen first, by an earlier runner too; another one is the cause `second-pod` and never read from. */
  get #pod(): Pod | undefined {
    const { pods } = this.#observer.seen;
    const known = this.#in.task.job.job.pod?.uid;
    return known === undefined ? [...pods.values()][0] : pods.get(known);
  }

  /** Its container has ended, or will not run any more. */
  readonly #isOver = (): boolean => {
    const pod = this.#pod;
    return (
      pod !== undefined &&
      (stateOf(pod).terminated !== undefined ||
        ['Succeeded', 'Failed'].includes(pod.status.phase ?? '') ||
        this.#observer.seen.gonePods.has(pod.metadata.uid))
    );
  };

  async watch(): Promise<Watched> {
    const { world } = this.#in.task;
    try {
      while (!(await this.#step())) await this.#change();
      if (this.#log.ended || this.#in.carrier.spool?.lies === 'on a claim') await this.#readSpool(true);
      const stopped = this.#log.error?.['code'] === 'interrupted';
      if ((stopped || !this.#log.state().complete) && this.#differs.length === 0)
        this.#cause = await this.#causes.lastWord(this.#cause, this.#stopping);
      this.#cause = this.#causes.secondPod() ?? this.#cause;
    } finally {
      this.#log.close();
      if (this.#log.next > 0) this.#live.end(this.#progress.view(), world.now());
    }
    const pod = this.#pod;
    const lives = pod !== undefined && !this.#isOver() && !this.#stopping;
    return { log: this.#log, pod, cause: this.#cause, differs: this.#differs, lives };
  }

  /** Does what there is to do now; true when there is nothing more to wait for. */
  async #step(): Promise<boolean> {
    const { task, hangup } = this.#in;
    const stop = stopOf(task);
    if (stop !== undefined && !this.#stopping && this.#mayStop()) await this.#stop();
    if (hangup.aborted) throw new LeftRunning('left to itself', EXIT.interrupted);
    this.#causes.tellAway();
    const pod = this.#pod;
    if (pod) {
      if (this.#isDifferent(pod)) return true;
      if (this.#checked) this.#note(pod);
      if (this.#checked && this.#delivered && task.detach && !this.#stopping)
        throw new LeftRunning('', EXIT.done);
      this.#goOn(pod, stateOf(pod));
    }
    if (isLocal(this.#failure)) throw this.#failure;
    if (this.#failure !== undefined && stop === undefined) {
      if (!this.#isOver()) throw this.#failure;
      return true;
    }
    this.#cause = await this.#causes.now(pod, this.#stopping);
    if (this.#causes.ends(this.#cause) && this.#deadline === Infinity)
      this.#deadline = awakeNow() + (this.#following ? DRAIN_MS : 0);
    const gone = !pod || this.#observer.seen.gonePods.has(pod.metadata.uid);
    return this.#followed || (this.#stopping && gone && !this.#following) || awakeNow() >= this.#deadline;
  }

  /** Until something changes. */
  async #change(): Promise<void> {
    const asked = this.#stopAsked !== undefined;
    const tick = Math.min(asked ? SOON_MS : TICK_MS, Math.max(0, this.#deadline - awakeNow()));
    const changed = this.#observer.changed(tick, asked ? this.#in.hangup : this.#wake);
    await (this.#following && !this.#failure ? Promise.race([changed, this.#following]) : changed);
  }

  /** Begins to deliver and to follow, each once its time has come. */
  #goOn(pod: Pod, state: ContainerState): void {
    const { carrier, cluster, namespace } = this.#in;
    const failed = (error: unknown): void => void (this.#failure = error);
    if (state.running && !this.#delivered && !this.#delivering && this.#stopAsked === undefined)
      this.#delivering = carrier.deliver!(pod, AbortSignal.any([this.#signal, this.#wake])).then(
        () => void (this.#delivered = true),
        failed,
      );
    // Without a container there is nothing to read; one that ended before it got its bundle has said why.
    const readable = this.#isOver() || (this.#delivered && state.running !== undefined);
    if (this.#following || !readable) return this.#lookAtSpool();
    const about = { cluster, namespace, pod: pod.metadata.name, log: this.#log };
    this.#following = follow({ ...about, isOver: this.#isOver, signal: this.#signal }).then(
      () => void (this.#followed = true),
      failed,
    );
  }

  /** Its last words are lost once its pod is gone: what it says must be on its way here before it is told to stop. */
  #mayStop(): boolean {
    this.#stopAsked ??= awakeNow();
    if (awakeNow() - this.#stopAsked > LISTENING_MS) return true;
    if (!this.#observer.seen.listed) return false;
    const pod = this.#pod;
    return !pod || !stateOf(pod).running || !this.#delivered || this.#log.heard;
  }

  async #stop(): Promise<void> {
    this.#stopping = true;
    this.#in.task.talk.info('stopping the session: its Job is deleted, its log saved');
    await this.#remove();
    this.#deadline = awakeNow() + STOPPING_MS;
  }

  /** Compares the admitted pod once with the manifest (DESIGN §4.4). */
  #isDifferent(pod: Pod): boolean {
    if (this.#checked || pod.status.qosClass === undefined) return false;
    this.#checked = true;
    this.#differs = differences(this.#in.manifest, pod);
    return this.#differs.length > 0;
  }

  #noteOnce(event: string): void {
    const { job } = this.#in.task;
    if (job.job.timeline.every((one) => one.event !== event)) job.note(event);
  }

  #note(pod: Pod): void {
    const { job, talk } = this.#in.task;
    const { name, uid } = pod.metadata;
    const node = pod.spec.nodeName;
    if (node !== undefined && job.job.pod?.node === undefined) talk.info(`its pod is on '${node}'`);
    if (job.job.pod?.uid !== uid) job.set({ pod: { name, uid, ...(node ? { node } : {}) } }, 'admitted');
    else if (node !== undefined && job.job.pod.node === undefined)
      job.set({ pod: { name, uid, node } }, 'scheduled');
    if (stateOf(pod).running) this.#noteOnce('started');
  }

  /**
   * A stream on which not one line comes, not even those that were read before it, is of a file that was rotated just now:
   * the log may have ended in the one before.
   */
  #lookAtSpool(): void {
    const { heard, since } = this.#log;
    const silent = !heard && performance.now() - since > ROTATED_MS;
    if (!silent || this.#looked === since || this.#in.carrier.spool?.lies !== 'in the pod') return;
    this.#looked = since;
    void this.#readSpool(false);
  }

  /** Takes what is missing from the pod's own copy; `say`: it ought to be there. */
  async #readSpool(say: boolean): Promise<void> {
    const { carrier, task } = this.#in;
    const pod = this.#pod;
    const { spool } = carrier;
    if (!spool || !pod || this.#log.state().complete || this.#stopping || this.#differs.length > 0) return;
    const { terminated } = stateOf(pod);
    if (spool.lies === 'in the pod' ? this.#isOver() : !terminated || terminated.exitCode > LAST_WORDS)
      return;
    if (say)
      task.talk.info("lines of the log can't be had from the node any more; reading the pod's own copy");
    const read = (): Promise<void> => {
      this.#log.restart();
      return spool.read(
        pod,
        () => this.#log.bytes,
        (block) => this.#log.take(block),
        this.#signal,
      );
    };
    try {
      // Nobody else has these lines, and they go with the Job: what passes by itself must not end the reading.
      await (say ? patiently(task.talk, read) : read());
    } catch (error) {
      if (isLocal(error) || error instanceof LeftRunning) {
        this.#failure = error;
        if (say) throw error;
      } else if (say) task.talk.warn((error as Error).message);
    }
  }
}

/** Why a session must stop, when it must: the signal, or another session of the run that ended badly. */
export const stopOf = ({ world, stop }: InCluster['task']): string | undefined => {
  if (world.interrupted.aborted) return String(world.interrupted.reason);
  return stop?.aborted ? String(stop.reason) : undefined;
};

/** Keeps what the API tells of a session's Job and pod up to date. */
import type { Cluster, WatchEvent } from '../../../shared/kubernetes.ts';
import { awakeNow } from './awake.ts';
import type { JobObject, Pod } from './objects.ts';

export interface Seen {
  job: JobObject | undefined;
  jobGone: boolean;
  pods: Map<string, Pod>;
  gonePods: Set<string>;
  /** All pods that were there have been told. */
  listed: boolean;
  /** Since when the API server is away, by the time that we were awake, ms. */
  awaySince: number | undefined;
  trouble: string | undefined;
}

export interface Observer {
  readonly seen: Seen;
  /** Resolves at the next change, after `ms`, or when `signal` is aborted; throws what can't pass (a refused watch). */
  changed(ms: number, signal?: AbortSignal): Promise<void>;
}

const nothing = (): void => undefined;

/** Watches the Job with this UID, and its pods, until `signal` stops it. */
export const observe = (
  cluster: Cluster,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  signal: AbortSignal,
): Observer => {
  const seen: Seen = {
    job: undefined,
    jobGone: false,
    pods: new Map(),
    gonePods: new Set(),
    listed: false,
    awaySince: undefined,
    trouble: undefined,
  };
  let failure: unknown;
  let wake = nothing;
  let news = false;
  const tell = (): void => {
    news = true;
    wake();
  };
  const contact = (event: WatchEvent<unknown>): void => {
    if (event.type === 'trouble') {
      seen.awaySince ??= awakeNow();
      seen.trouble = event.error.message;
    } else seen.awaySince = seen.trouble = undefined;
  };
  const watchJob = async (): Promise<void> => {
    for await (const event of cluster.watch<JobObject>(
      'jobs',
      { namespace, fieldSelector: `metadata.name=${name}` },
      signal,
    )) {
      contact(event);
      if (event.type === 'is') {
        if (event.object.metadata.uid === uid) seen.job = event.object;
        // Another Job has the name now, so ours is gone.
        else seen.jobGone = true;
      }
      if (event.type === 'gone' && event.object.metadata.uid === uid) seen.jobGone = true;
      if (event.type === 'complete' && seen.job === undefined) seen.jobGone = true;
      tell();
    }
  };
  const watchPods = async (): Promise<void> => {
    for await (const event of cluster.watch<Pod>(
      'pods',
      { namespace, labelSelector: `batch.kubernetes.io/controller-uid=${uid}` },
      signal,
    )) {
      contact(event);
      if (event.type === 'complete') seen.listed = true;
      if (event.type === 'is') seen.pods.set(event.object.metadata.uid, event.object);
      if (event.type === 'gone') {
        // Its last state says why it went.
        seen.pods.set(event.object.metadata.uid, event.object);
        seen.gonePods.add(event.object.metadata.uid);
      }
      tell();
    }
  };
  for (const one of [watchJob(), watchPods()])
    one.catch((error: unknown) => {
      failure ??= error;
      tell();
    });
  return {
    seen,
    async changed(ms, stop) {
      if (!news)
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            stop?.removeEventListener('abort', done);
            wake = nothing;
            resolve();
          };
          const timer = setTimeout(done, ms);
          wake = done;
          if (stop?.aborted) done();
          else stop?.addEventListener('abort', done, { once: true });
        });
      news = false;
      if (failure !== undefined) throw failure;
    },
  };
};

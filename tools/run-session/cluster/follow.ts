/** Follows the log of a session's pod to its end, over broken connections, rotations and restarts of whoever serves it. */
import { type Cluster, ConnectionError, isNotFound, isNotStarted } from '../../../shared/kubernetes.ts';
import { blocksOf } from '../../../shared/line-blocks.ts';
import { awakeNow } from './awake.ts';
import { BENCH } from './objects.ts';
import { isPassing, isRefusal, REFUSED_MS } from './patience.ts';
import type { PodLog } from './pod-log.ts';

/** A silent stream is asked for anew after so many ms: whoever stands between may have forgotten it. */
const SILENCE_MS = 120_000;
const PAUSE_MS = 500;
/** How long a stream may go on after its container ended, ms. */
const DRAIN_MS = 10_000;

export interface Follow {
  cluster: Cluster;
  namespace: string;
  pod: string;
  log: PodLog;
  /** The container has ended, or its pod is gone. */
  isOver(): boolean;
  signal: AbortSignal;
}

/** One stream; `follow: false` reads what is there. */
const readOnce = async (
  { cluster, namespace, pod, log, isOver, signal }: Follow,
  follow: boolean,
): Promise<void> => {
  const cut = new AbortController();
  let heard = performance.now();
  const guard = setInterval(() => {
    const quiet = performance.now() - heard;
    // It may have ended in the pod's own copy.
    if (log.ended || quiet > SILENCE_MS || (isOver() && quiet > DRAIN_MS)) cut.abort();
  }, 500);
  try {
    log.begin();
    const stream = cluster.log(
      { namespace, pod, container: BENCH, follow },
      AbortSignal.any([signal, cut.signal]),
    );
    for await (const block of blocksOf(stream)) {
      heard = performance.now();
      log.take(block);
      if (log.ended) return;
    }
  } catch (error) {
    if (!cut.signal.aborted) throw error;
  } finally {
    clearInterval(guard);
  }
};

/** Until the log has ended, or the container has and nothing more comes. */
export const follow = async (about: Follow): Promise<void> => {
  const { log, isOver, signal } = about;
  let refusedSince: number | undefined;
  while (!log.ended && !signal.aborted) {
    const over = isOver();
    try {
      await readOnce(about, !over);
      refusedSince = undefined;
      // Read after the end: nothing more can come.
      if (over) return;
    } catch (error) {
      if (signal.aborted) return;
      if (isNotFound(error)) {
        if (over) return;
      } else if (isNotStarted(error)) {
        if (over) return;
      } else if (isRefusal(error) && log.next > 0) {
        refusedSince ??= awakeNow();
        if (awakeNow() - refusedSince > REFUSED_MS) throw error;
      } else if (!isPassing(error) && !(error instanceof ConnectionError)) throw error;
    }
    if (!log.ended) await Bun.sleep(PAUSE_MS);
  }
};

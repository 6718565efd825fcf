/** Sends a bundle until it has arrived: over streams that break, and an API server that is away for minutes (DESIGN §4). */
import { ApiError, ConnectionError } from '../../../shared/kubernetes.ts';
import type { Talk } from '../../../shared/talk.ts';
import { awakeNow } from './awake.ts';
import { isRefusal, patiently, REFUSED_MS } from './patience.ts';

/** Streams that may break; how long an API server may be away between two of them is patience's. */
const TRIES = 6;
const PAUSE_MS = 1000;

export interface Redelivery {
  /** Whether an earlier stream arrived whole, whose end was never heard of. */
  isThere(): Promise<boolean>;
  send(): Promise<void>;
  /** An earlier runner may have sent it. */
  attaching: boolean;
  talk: Talk;
  signal: AbortSignal;
  pause_ms?: number;
}

/** A broken connection, a server that is too busy, one without its kubelet for a moment. */
const isBroken = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === 429 || error.code >= 502 || /dialing backend/.test(error.detail)
    : error instanceof ConnectionError && !error.final;

/** True when it was sent, false when it was there. Throws what can't pass, and LeftRunning when the API server stays away. */
export const redeliver = async (about: Redelivery): Promise<boolean> => {
  const { isThere, send, attaching, talk, signal, pause_ms = PAUSE_MS } = about;
  let refusedSince: number | undefined;
  for (let at = 1; ;)
    try {
      if ((at > 1 || attaching) && (await patiently(talk, isThere, pause_ms))) return false;
      await send();
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isRefusal(error) && at > 1) {
        // By a server that has just started.
        refusedSince ??= awakeNow();
        if (awakeNow() - refusedSince > REFUSED_MS) throw error;
        await Bun.sleep(pause_ms);
        continue;
      }
      if (at >= TRIES || !isBroken(error)) throw error;
      talk.warn(`${(error as Error).message}; sending the bundle again`);
      await Bun.sleep(pause_ms * at++);
    }
};

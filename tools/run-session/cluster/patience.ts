/** Requests that outlive an API server which is away for minutes: the session does not depend on it. */
import { ApiError, ConnectionError } from '../../../shared/kubernetes.ts';
import { isSystemError } from '../../../shared/failure.ts';
import { EXIT, type Exit } from '../../../shared/exit.ts';
import type { Talk } from '../../../shared/talk.ts';
import { awakeNow } from './awake.ts';

/** How long the API server may be away before the runner gives up, ms. The session itself goes on. */
export const AWAY_MS = 10 * 60_000;
const PAUSE_MS = 2000;

/** Ends the runner and leaves the session to itself: whoever calls `run-session --run DIR` attaches. */
export class LeftRunning extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = EXIT.failed) {
    super(message);
    this.name = 'LeftRunning';
    this.exit = exit;
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** The disk here can't be written: that ends the runner, and never the session, which has all that it measured. */
export const isLocal = (error: unknown): boolean =>
  isSystemError(error) && FULL.has(String((error as { code?: unknown }).code));

/** May pass by itself. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === 429 || error.code >= 500
    : error instanceof ConnectionError && !error.final;

/** How long what was allowed before may be refused, ms: an API server that has just started does not know yet who may what. */
export const REFUSED_MS = 30_000;
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403].includes(error.code);

/** Repeats a request until it is answered; what can't pass is thrown as it is. */
export const patiently = async <T>(
  talk: Talk,
  request: () => Promise<T>,
  pause_ms = PAUSE_MS,
): Promise<T> => {
  const from = awakeNow();
  let said = false;
  for (;;)
    try {
      return await request();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (awakeNow() - from > AWAY_MS)
        throw new LeftRunning(`the API server is away: ${(error as Error).message}`);
      if (!said) talk.warn(`${(error as Error).message}; waiting for it`);
      said = true;
      await Bun.sleep(pause_ms);
    }
};

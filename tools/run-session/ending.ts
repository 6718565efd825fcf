/** What became of a session, from how its process ended and what its log says. Pure. */
import type { Job } from '../../schemas/job.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import type { LogState, SessionLine } from '../../shared/session-log.ts';

export interface Ending {
  /** `running`: it was left to itself. */
  outcome: Job['outcome'];
  exit: Exit;
  /** Why, in one sentence, when it is not done. */
  message?: string;
  log?: NonNullable<Job['log']>;
}

export interface Evidence {
  /** Exit status of the pod program; null when a signal ended it. */
  status: number | null;
  signal: string | null;
  log: LogState;
  /** The log's `error` line. */
  error: SessionLine | undefined;
  /** The last of what the pod program said on stderr. */
  stderrTail: string;
  /** The signal that asked us to stop it. */
  interrupted?: string;
  /** It ran past its own limit and was stopped, s. */
  overran?: number;
}

const logFacts = ({ lines, bytes, sha256, foreignLines }: LogState): NonNullable<Job['log']> => ({
  lines,
  bytes,
  sha256,
  foreignLines,
});

/** The cause in words: the session's own, else how its process ended. */
const messageOf = ({ status, signal, log, error, stderrTail }: Evidence): string => {
  if (typeof error?.['message'] === 'string') return error['message'];
  if (log.startupError !== undefined) return log.startupError;
  const said = stderrTail.trim().split('\n').at(-1);
  const ended = signal === null ? `ended with status ${status}` : `was ended by ${signal}`;
  const why = signal === 'SIGKILL' ? '; out of memory?' : said ? `: ${said}` : '';
  return `the pod program ${ended}${why}`;
};

/** Signals by which somebody stops a session. */
const STOPPING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM']);

/** How a session ended. Its log counts as whole only when count and digest agree (DESIGN §4.6). */
export const endingOf = (evidence: Evidence): Ending => {
  const { status, signal, log, error, interrupted, overran } = evidence;
  const whole = log.complete ? { log: logFacts(log) } : {};
  const failed = (message: string): Ending => ({ outcome: 'failed', exit: EXIT.failed, message, ...whole });
  if (status === EXIT.done) {
    if (!log.complete) return failed(`its log is not whole: ${log.problems.join('; ')}`);
    return { outcome: 'done', exit: EXIT.done, ...whole };
  }
  if (interrupted === undefined && overran !== undefined)
    return failed(`it ran longer than its limit of ${overran} s and was stopped`);
  // A signal that comes before the program listens for it ends it as any other.
  const asked = interrupted ?? (signal !== null && STOPPING.has(signal) ? signal : undefined);
  if (asked !== undefined || status === EXIT.interrupted) {
    const message = `stopped by ${asked ?? 'a signal'} before it was done`;
    return { outcome: 'interrupted', exit: EXIT.interrupted, message, ...whole };
  }
  if (status === EXIT.invalid || error?.['invalid'] === true) {
    if (!log.complete)
      return failed(`${messageOf(evidence)}; its log is not whole: ${log.problems.join('; ')}`);
    return { outcome: 'invalid', exit: EXIT.invalid, message: messageOf(evidence), ...whole };
  }
  return { ...failed(messageOf(evidence)), exit: status === EXIT.usage ? EXIT.usage : EXIT.failed };
};

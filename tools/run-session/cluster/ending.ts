/** What became of a session in a cluster, from its verified log first, then from what the cluster tells. Pure. */
import { EXIT } from '../../../shared/exit.ts';
import type { LogState, SessionLine } from '../../../shared/session-log.ts';
import { type Ending, endingOf } from '../ending.ts';
import { cause as causeNamed, type Cause } from './cause-table.ts';
import { type Pod, stateOf } from './objects.ts';

export interface Told {
  log: LogState;
  error: SessionLine | undefined;
  /** The last lines that are not the session's. */
  tail: readonly string[];
  pod: Pod | undefined;
  cause: Cause | undefined;
  /** The signal that asked us to stop it. */
  interrupted: string | undefined;
}

/** The exit status that the pod program had, by its own last words. */
const statusOf = (error: SessionLine | undefined): number => {
  if (!error) return EXIT.done;
  if (error['invalid'] === true) return EXIT.invalid;
  if (error['code'] === 'plan') return EXIT.usage;
  return error['code'] === 'interrupted' ? EXIT.interrupted : EXIT.failed;
};

/**
 * A whole log counts whatever became of the pod afterwards; without one the cluster's cause does. What two pods did is no
 * measurement, whole or not.
 */
export const endingInCluster = ({ log, error, tail, pod, cause, interrupted }: Told): Ending => {
  if (cause?.name === 'second-pod') return { outcome: 'invalid', exit: EXIT.invalid, message: cause.message };
  if (log.complete) {
    const status = statusOf(error);
    const stopped = status === EXIT.interrupted;
    // Its own last words are that a signal came; who sent it is known to the cluster.
    if (stopped && cause && interrupted === undefined)
      return { outcome: 'failed', exit: EXIT.failed, message: cause.message };
    return endingOf({
      status,
      signal: null,
      log,
      error,
      stderrTail: '',
      ...(stopped && interrupted !== undefined ? { interrupted } : {}),
    });
  }
  if (interrupted !== undefined)
    return {
      outcome: 'interrupted',
      exit: EXIT.interrupted,
      message: `stopped by ${interrupted} before it was done`,
    };
  if (cause) return { outcome: 'failed', exit: EXIT.failed, message: cause.message };
  // What runtimes say in the container's name, which never began.
  const foreign = log.lines === 0 && tail.find((line) => line.endsWith(': exec format error'));
  if (foreign)
    return {
      outcome: 'failed',
      exit: EXIT.failed,
      message: causeNamed('wrong-architecture', foreign).message,
    };
  const terminated = pod && stateOf(pod).terminated;
  return endingOf({
    status: terminated?.exitCode ?? EXIT.done,
    signal: terminated?.exitCode === 137 ? 'SIGKILL' : null,
    log,
    error,
    stderrTail: tail.join('\n'),
  });
};

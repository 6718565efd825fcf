import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { cause, isSystemError } from '../../shared/failure.ts';
import { readPlan } from './compact-plan.ts';
import { LineWriter } from './lines.ts';
import { measure } from './measure.ts';
import type { Outside } from './outside.ts';
import { placeOf } from './place.ts';
import { SessionError } from './session-error.ts';
import { jobAge } from './job-age.ts';
import { afterSeconds } from '../../shared/time-limit.ts';

/** How a session ended: its exit status, and why when it isn't done. */
export interface Ending {
  exit: Exit;
  error?: SessionError;
}

/** Any error as one that ends a session. What the operating system refused is said in words; the rest is a bug of ours. */
const asSessionError = (error: unknown): SessionError => {
  if (error instanceof SessionError) return error;
  if (isSystemError(error)) {
    const { syscall, path } = error as NodeJS.ErrnoException;
    return new SessionError('system', `can't ${syscall ?? 'use'} '${path ?? 'a file'}': ${cause(error)}`);
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new SessionError('bug', `this is a bug in k8sbench; please report it: ${stack}`);
};

/** A text, unless the session must stop before it comes. */
const unlessAborted = (text: Promise<string>, stopping: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(stopping.reason as SessionError);
    if (stopping.aborted) stop();
    stopping.addEventListener('abort', stop, { once: true });
    text.then(resolve, reject).finally(() => stopping.removeEventListener('abort', stop));
  });

/** The directory of the fixtures, made when it isn't there; one of the session's own is removed at the end. */
const dataDirectory = (given: string | undefined, undo: (step: () => void) => void): string => {
  if (given !== undefined) {
    mkdirSync(given, { recursive: true });
    return realpathSync(given);
  }
  const own = mkdtempSync(`${realpathSync(tmpdir())}/k8sbench-`);
  undo(() => rmSync(own, { recursive: true, force: true }));
  return own;
};

/**
 * One whole session (spec §5): facts, pin, seeds, warm-up rounds, rounds, done, end. However it goes, the log ends with `end`,
 * after an `error` when it failed, unless nobody reads any more; and nothing that it started or made stays.
 */
export const runSession = async (outside: Outside): Promise<Ending> => {
  const { interrupted } = outside;
  const stopping = new AbortController();
  const onInterrupt = (): void =>
    stopping.abort(
      new SessionError(
        'interrupted',
        `interrupted by ${String(interrupted.reason)}; the step in flight is lost`,
      ),
    );
  if (interrupted.aborted) onInterrupt();
  else interrupted.addEventListener('abort', onInterrupt, { once: true });
  const lines = new LineWriter(outside.output, stopping.signal);
  const undoing: (() => void)[] = [];
  const undo = (step: () => void): void => void undoing.push(step);
  let error: SessionError | undefined;
  try {
    const { plan, planSha256 } = readPlan(await unlessAborted(outside.plan(), stopping.signal));
    const limit = plan.limits.session_s;
    const age = jobAge(outside.env['K8SBENCH_SUBMITTED_AT'], outside.now(), limit);
    const waited = age < 1 ? '' : `, of which its Job waited ${Math.round(age)} s to start`;
    undo(
      afterSeconds(limit - age, () =>
        stopping.abort(
          new SessionError(
            'session-limit',
            `the session took longer than its limit of ${limit} s${waited}; plan fewer rounds or sizes, or a later deadline`,
          ),
        ),
      ),
    );
    const place = placeOf(outside.env, plan, outside.cwd, outside.host);
    const data = dataDirectory(place.data, undo);
    await measure({ outside, plan, planSha256, place, data, lines, stopping: stopping.signal, undo });
  } catch (caught) {
    error = asSessionError(caught);
  }
  for (const step of undoing.toReversed())
    try {
      step();
    } catch {
      // What can't be undone must not hide why the session ended.
    }
  interrupted.removeEventListener('abort', onInterrupt);
  try {
    if (error)
      await lines.put('error', {
        message: error.message,
        code: error.code,
        ...(error.invalid ? { invalid: true } : {}),
      });
    await lines.end();
  } catch (caught) {
    error ??= asSessionError(caught);
  }
  return error ? { exit: error.exit, error } : { exit: EXIT.done };
};

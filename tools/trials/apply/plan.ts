/** What there is to submit: every trial without a result and without a Job. Pure. */
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { Trial } from '../../../schemas/trials.ts';
import { endingOf } from '../collect/causes.ts';
import { isOver } from '../collect/objects.ts';
import type { SeenJob } from '../collect/observe.ts';
import { isFinal, keyOf } from '../trials-file.ts';

export interface ToSubmit {
  /** In the order of the plan. */
  submit: Trial[];
  /** Their Jobs were lost to the place and are replaced; still there. */
  replace: { trial: Trial; uid: string }[];
  /** Lost, and not asked to be tried again. */
  lost: Trial[];
  /** Jobs that are there. */
  there: number;
}

const uidIn = (line: TrialLine): unknown => (line as { jobUid?: unknown }).jobUid;

export const toSubmit = (
  trials: readonly Trial[],
  known: ReadonlyMap<string, TrialLine>,
  jobs: ReadonlyMap<string, SeenJob>,
  again: boolean,
): ToSubmit => {
  const all: ToSubmit = { submit: [], replace: [], lost: [], there: 0 };
  for (const trial of trials) {
    const line = known.get(keyOf(trial));
    const seen = jobs.get(trial.job);
    const job = seen && !seen.gone ? seen.job : undefined;
    if (job) all.there++;
    if (line && isFinal(line)) continue;
    // A Job of another UID than the lost one's is the next try already.
    if (job && !(line && uidIn(line) === job.metadata.uid)) continue;
    if (line && !again) all.lost.push(trial);
    else if (job) all.replace.push({ trial, uid: job.metadata.uid });
    else all.submit.push(trial);
  }
  return all;
};

/** The run's Jobs that are not over. One whose node is gone never says that it is, and takes nobody's place. */
export const unfinished = (jobs: ReadonlyMap<string, SeenJob>): SeenJob[] =>
  [...jobs.values()].filter(
    ({ job, gone, pod }) => !gone && !isOver(job) && (pod === undefined || endingOf(pod) === undefined),
  );

/**
 * trials.jsonl: one line per trial. The gate, the container that the agent can't reach, prints it as its only line of
 * standard output and leaves it as its termination message (status.containerStatuses[gate].state.terminated.message);
 * nothing that the trial container prints is a result. `trials collect` makes lines of trials whose pods printed none. Spec §9.
 */
import * as v from 'valibot';
import { amount, count, finite, instant, positive, text, word } from './primitives.ts';

/** Not measured is null, never 0. */
const measured = v.nullable(amount);

const usage = v.object({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  totalTokens: count,
});

/**
 * Whose fault it is that there is no verdict: the agent asked for the tests, broke its container or left something behind for the
 * verifier; the arm does not start; the verifier gave no reward; or something that can be tried again.
 */
export const FAULTS = ['agent', 'arm', 'verifier', 'infrastructure'] as const;

const fields = {
  t: v.literal('trial'),
  task: word,
  arm: word,
  attempt: positive,
  /** Its name in models.lock: it stands in tables. */
  model: v.pipe(text, v.maxLength(200, 'expected a name of at most 200 characters')),
  image: text,
  /** What the verifier gave; null: no verdict, and `error` says why. 1 is solved. */
  reward: v.nullable(finite),
  /** The agent's exit status, 128 and the signal's number when it was killed; null when it was ended at its time limit, or never ran. */
  agentExit: v.nullable(count),
  agentWallMs: measured,
  /** CPU time of the container while the agent ran. */
  agentCpuMs: measured,
  assistantMessages: v.nullable(count),
  /** As the agent reports it; null when it reports none. */
  usage: v.nullable(usage),
  verifierExit: v.nullable(count),
  verifierWallMs: measured,
  /** Why there is no verdict. */
  error: v.optional(text),
  /** The end of a failed agent's stderr. A failed agent is still verified. */
  agentError: v.optional(v.string()),
  /** Our own: present when there is no verdict. */
  fault: v.optional(v.picklist(FAULTS, `expected ${FAULTS.join(', ')}`)),
  /** Present when the agent was ended at its time limit. */
  agentTimedOut: v.optional(v.literal(true)),
  /** What the agent left that the verifier could have met, when that decided nothing. */
  notes: v.optional(v.array(text)),
  /** Added by `trials collect`. */
  job: v.optional(text),
  pod: v.optional(text),
  node: v.optional(text),
  started_at: v.optional(instant),
};

export const trialLine = v.pipe(
  v.looseObject(fields),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { reward, error, fault } = dataset.value;
    if (reward === null && (error === undefined || fault === undefined))
      addIssue({ message: 'error: expected why there is no reward, and fault whose it is, found nothing' });
    if (reward !== null && (error !== undefined || fault !== undefined))
      addIssue({ message: 'reward: expected null beside an error or a fault' });
  }),
);

/** What a writer has to give; readers keep unknown keys. */
export type TrialLine = v.InferOutput<v.ObjectSchema<typeof fields, undefined>>;
export type Fault = (typeof FAULTS)[number];

/** A trial's line, from what its gate left: the termination message, else the log. Pure. */
import { type TrialLine, trialLine } from '../../../schemas/trial-line.ts';
import type { Trial, Trials } from '../../../schemas/trials.ts';
import { problemsOf } from '../../../shared/read.ts';
import { type Cause, endingOf, silenceOf } from './causes.ts';
import { GATE, statusOf, type TrialPod } from './objects.ts';

/** A line that was found, or why none counts; undefined: nothing looks like one. */
export type Found = { line: TrialLine } | { wrong: string } | undefined;

/** The trial that a line has to be of. */
export interface Expected {
  trial: Trial;
  model: Trials['model']['id'];
}

const readLine = (text: string, { trial, model }: Expected): Exclude<Found, undefined> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { wrong: 'its result line is cut' };
  }
  const problems = problemsOf(trialLine, { value }, 'its result line');
  if (problems.length > 0) return { wrong: problems[0]! };
  const line = value as TrialLine;
  const wanted = { task: trial.task, arm: trial.arm, attempt: trial.attempt, model, image: trial.image };
  const other = Object.entries(wanted).find(([key, one]) => line[key as keyof typeof wanted] !== one);
  return other
    ? {
        wrong: `its result line is of another trial: ${other[0]} '${String(line[other[0] as keyof TrialLine])}'`,
      }
    : { line };
};

/** The last result line of a text. What stands around it is somebody's noise. */
export const lineIn = (text: string, expected: Expected): Found => {
  const found = text
    .split('\n')
    .filter((one) => one.includes('"t":"trial"'))
    .map((one) => readLine(one.trim(), expected));
  return found.findLast((one) => 'line' in one) ?? found.at(-1);
};

/** What the gate left as its last words; the kubelet keeps them whatever becomes of the log. */
export const lastWords = (pod: TrialPod): string => statusOf(pod, GATE)?.terminated?.message ?? '';

/** Names of where it ran, beside the result. */
const placeOf = (job: { name: string; uid: string }, pod: TrialPod | undefined) => {
  const terminated = pod && statusOf(pod, GATE)?.terminated;
  const started = terminated?.startedAt ?? pod?.status.startTime;
  const node = pod?.spec.nodeName;
  return {
    job: job.name,
    jobUid: job.uid,
    ...(pod ? { pod: pod.metadata.name } : {}),
    ...(node ? { node } : {}),
    ...(started ? { started_at: started } : {}),
    ...(terminated?.finishedAt ? { ended_at: terminated.finishedAt } : {}),
  };
};

/** What a gate says of a trial that it lost sight of; why, only the API tells. */
const ENDED = /^the pod was ended/;
const SILENT = /ended without a word/;

/** A line as it is kept; of a trial that its gate lost sight of, with the reason that the API gives. */
export const keptLine = (line: TrialLine, job: { name: string; uid: string }, pod: TrialPod): TrialLine => {
  const said = line.fault === 'infrastructure' ? (line.error ?? '') : '';
  const better =
    ENDED.test(said) || SILENT.test(said)
      ? (endingOf(pod) ?? (SILENT.test(said) ? silenceOf(pod) : undefined))
      : undefined;
  return { ...line, ...(better ? { error: better.why, fault: better.fault } : {}), ...placeOf(job, pod) };
};

/** The line of a trial that has none of its own. */
export const lostLine = (
  { trial, model }: Expected,
  { why, fault }: Pick<Cause, 'why' | 'fault'>,
  job: { name: string; uid: string },
  pod: TrialPod | undefined,
): TrialLine => ({
  t: 'trial',
  task: trial.task,
  arm: trial.arm,
  attempt: trial.attempt,
  model,
  image: trial.image,
  reward: null,
  agentExit: null,
  agentWallMs: null,
  agentCpuMs: null,
  assistantMessages: null,
  usage: null,
  verifierExit: null,
  verifierWallMs: null,
  error: why,
  fault,
  ...placeOf(job, pod),
});

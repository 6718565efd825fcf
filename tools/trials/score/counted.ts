/** Which trials there are, and the one line of each that counts. Pure. */
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { ScoredAttempt, TrialState } from '../../../schemas/trials-score.ts';

/** A trial that was to be made. */
export type Planned = Pick<TrialLine, 'task' | 'arm' | 'attempt' | 'model'>;

/** A trial, and its line; undefined: nobody collected one. */
export interface Counted extends Planned {
  line: TrialLine | undefined;
}

/** A task is solved by the whole reward; a part of it is not. */
export const stateOf = (line: TrialLine | undefined): TrialState =>
  line === undefined || line.reward === null ? 'no verdict' : line.reward >= 1 ? 'solved' : 'failed';

const keyOf = ({ task, arm, attempt, model }: Planned): string => JSON.stringify([model, arm, task, attempt]);

/** One trial in words, for messages. */
export const nameOf = ({ task, arm, attempt }: Planned): string =>
  `'${task}' by '${arm}', attempt ${attempt}`;

/** A verdict stands; without one the newest line says why. */
const counting = (before: TrialLine | undefined, line: TrialLine): TrialLine =>
  before !== undefined && before.reward !== null ? before : line;

/**
 * Every planned trial and every other one that has a line, each once. A trial may have several lines: it was tried again
 * after a failure of the place. Two different verdicts of one trial are a problem: nobody knows which one is true.
 */
export const countedTrials = (
  lines: readonly TrialLine[],
  planned: readonly Planned[],
): { trials: Counted[]; problems: string[] } => {
  const trials = new Map<string, Counted>();
  const problems: string[] = [];
  for (const one of planned) {
    const { task, arm, attempt, model } = one;
    trials.set(keyOf(one), { task, arm, attempt, model, line: undefined });
  }
  const isPlanned = new Set(trials.keys());
  for (const line of lines) {
    const key = keyOf(line);
    const { task, arm, attempt, model } = line;
    if (isPlanned.size > 0 && !isPlanned.has(key))
      problems.push(`${nameOf(line)}: not one of the run's trials; is the line of another run?`);
    const before = trials.get(key)?.line;
    if (before && before.reward !== null && line.reward !== null && before.reward !== line.reward)
      problems.push(
        `${nameOf(line)}: two verdicts, ${before.reward} and ${line.reward}; leave one line out when it is known to be of another run`,
      );
    trials.set(key, { task, arm, attempt, model, line: counting(before, line) });
  }
  return { trials: [...trials.values()], problems };
};

/** Trials of one arm with one model. */
export interface ArmTrials {
  name: string;
  arm: string;
  model: string;
  /** By task, in the order of their numbers. */
  tasks: Map<string, Counted[]>;
}

/** The arms, in the order in which they are first named; the model is part of the name where there are several. */
export const armsOf = (trials: readonly Counted[]): ArmTrials[] => {
  const several = new Set(trials.map((one) => one.model)).size > 1;
  const groups = Map.groupBy(trials, ({ arm, model }) => (several ? `${arm} (${model})` : arm));
  return [...groups].map(([name, members]) => ({
    name,
    arm: members[0]!.arm,
    model: members[0]!.model,
    tasks: Map.groupBy(
      members.toSorted((a, b) => a.attempt - b.attempt),
      (one) => one.task,
    ),
  }));
};

/** What a trial came to, for the grid. */
export const attemptOf = ({ attempt, line }: Counted): ScoredAttempt => {
  const state = stateOf(line);
  return {
    attempt,
    state,
    reward: line?.reward ?? null,
    agentWall_s: typeof line?.agentWallMs === 'number' ? line.agentWallMs / 1000 : null,
    ...(state === 'no verdict' ? { why: whyNot(line) } : {}),
  };
};

/** Why a trial has no verdict. */
export const whyNot = (line: TrialLine | undefined): string =>
  line === undefined ? 'no result line was collected' : line.error || 'its line does not say why';

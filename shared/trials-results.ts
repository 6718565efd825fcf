/** What `trials score` left in a run directory, for those who show it. */
import { join } from 'node:path';
import { trialsScore, type TrialsScore } from '../schemas/trials-score.ts';
import { failed } from './failure.ts';
import { sha256 } from './files.ts';
import { readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

const SCORE = 'trials-score.json';
const LINES = 'trials.jsonl';

/** Whether it is a run of trials, whatever is known of them yet. */
export const isOfTrials = (run: RunDirectory): boolean => run.has('trials.json') || run.has(SCORE);

/**
 * The score of a run of trials. One of other lines than those that stand beside it is refused: what is shown and what was
 * collected must be the same.
 */
export const readScore = (run: RunDirectory): TrialsScore => {
  const again = `'k8sbench trials score --run ${run.shown}' makes it`;
  if (!run.has(SCORE)) throw failed(`'${run.shown}' has no ${SCORE}; ${again}`);
  const score = run.json(SCORE, trialsScore);
  const wanted = score.inputs[LINES];
  if (wanted === undefined || !run.has(LINES)) return score;
  if (sha256(readText(run.file(LINES), join(run.shown, LINES))) !== wanted)
    throw failed(`'${join(run.shown, SCORE)}' is of other lines than '${LINES}' holds now; ${again} anew`);
  return score;
};

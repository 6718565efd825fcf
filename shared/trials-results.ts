/** What `trials score` left in a run directory, for those who show it. */
import { join } from 'node:path';
import { trialsScore, type TrialsScore } from '../schemas/trials-score.ts';
import { failed } from './failure.ts';
import { sha256 } from './files.ts';
import { readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

const SCORE = 'trials-score.json';
/** What `trials collect` writes into a run, a line for each trial. */
export const LINES_FILE = 'trials.jsonl';

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
  const wanted = score.inputs[LINES_FILE];
  if (wanted === undefined || !run.has(LINES_FILE)) return score;
  if (sha256(readText(run.file(LINES_FILE), join(run.shown, LINES_FILE))) !== wanted)
    throw failed(
      `'${join(run.shown, SCORE)}' is of other lines than '${LINES_FILE}' holds now; ${again} anew`,
    );
  return score;
};

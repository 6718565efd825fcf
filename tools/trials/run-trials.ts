/** A directory that `trials --out` made: which trials there are. */
import { join } from 'node:path';
import { trials as trialsSchema, type Trials } from '../../schemas/trials.ts';
import { sha256 } from '../../shared/files.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';

export const TRIALS_FILE = 'trials.json';

/** trials.json, and its digest. */
export const readTrials = (run: RunDirectory): { trials: Trials; digest: string } => {
  const place = join(run.shown, TRIALS_FILE);
  const text = readText(run.file(TRIALS_FILE), place);
  return { trials: check(trialsSchema, { value: parseJson(text, place) }, place), digest: sha256(text) };
};

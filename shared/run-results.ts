/** What an analysis left in a run directory: the analysis, and the sample rows it rests on. */
import { join } from 'node:path';
import { analysis as analysisSchema, type Analysis } from '../schemas/analysis.ts';
import { type ResultLine, resultLine } from '../schemas/results.ts';
import { failed } from './failure.ts';
import { sha256 } from './files.ts';
import { check, parseJson, readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

/** analysis.json of a run; a missing one says which step writes it. */
export const readAnalysis = (run: RunDirectory): Analysis => run.json('analysis.json', analysisSchema);

/**
 * The rows of results.jsonl, in the order measured. Rows that are not those the analysis was made with (another digest) are
 * refused: what is shown and what was concluded must be the same data.
 */
export const readRows = (run: RunDirectory, { outputs }: Pick<Analysis, 'outputs'>): ResultLine[] => {
  const place = join(run.shown, 'results.jsonl');
  const again = `'k8sbench analyze --run ${run.shown} --force' makes it anew`;
  if (!run.has('results.jsonl')) throw failed(`'${run.shown}' has no results.jsonl; ${again}`);
  const text = readText(run.file('results.jsonl'), place);
  const wanted = outputs['results.jsonl'];
  if (wanted !== undefined && sha256(text) !== wanted)
    throw failed(`'${place}' is not the one that analysis.json was written with; ${again}`);
  return text.split('\n').flatMap((line, at) => {
    if (line === '') return [];
    const name = `${place}:${at + 1}`;
    return [check(resultLine, { value: parseJson(line, name) }, name)];
  });
};

export type Role = 'candidate' | 'reference' | 'control' | 'floor';

/** A target's role, as the comparisons tell it; what they don't name is the control, or alone in a calibration. */
export const roleOf = ({ comparisons, mode }: Analysis, target: string): Role => {
  if (mode === 'calibrate' || comparisons.some((one) => one.reference === target)) return 'reference';
  if (comparisons.some((one) => one.candidate === target)) return 'candidate';
  return comparisons.some((one) => one.floor === target) ? 'floor' : 'control';
};

/** The id of the session that a row belongs to: rows of several sessions name it. */
export const sessionOf = ({ run, sessions }: Analysis, row: ResultLine): string =>
  typeof row['run'] === 'string' ? row['run'] : (sessions[0]?.run ?? run);

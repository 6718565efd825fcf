/** What an analysis left in a run directory: the analysis, and the sample rows it rests on. */
import { basename, join } from 'node:path';
import { analysis as analysisSchema, type Analysis } from '../schemas/analysis.ts';
import { type ResultLine, resultLine } from '../schemas/results.ts';
import { job } from '../schemas/job.ts';
import { failed } from './failure.ts';
import { sha256, sha256File } from './files.ts';
import { check, parseJson, readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

/** What a run's analysis is computed from, and what a session that is measured again writes anew. */
const MEASURED = new Set(['run.json', 'spread.json', 'pod.log']);

/** Inputs of an analysis that are other files now, or gone. What was imported or copied has no run.json, and may lack them. */
const changedInputs = async (run: RunDirectory, { inputs }: Analysis): Promise<string[]> => {
  const changed: string[] = [];
  if (!run.has('run.json')) return changed;
  for (const [name, digest] of Object.entries(inputs))
    if (MEASURED.has(basename(name)) && (!run.has(name) || (await sha256File(run.file(name))) !== digest))
      changed.push(name);
  return changed;
};

/**
 * analysis.json of a run; a missing one says which step writes it. One of a session that was measured again since, or is being
 * measured, is refused: its values are another session's.
 */
export const readAnalysis = async (run: RunDirectory): Promise<Analysis> => {
  const analysis = run.json('analysis.json', analysisSchema);
  const changed = await changedInputs(run, analysis);
  if (changed.length > 0)
    throw failed(
      `'${run.shown}/analysis.json' is of another ${changed.join(' and ')} than stands there now; 'k8sbench analyze --run ${run.shown}' makes it anew`,
    );
  return analysis;
};

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

/** Why a run's session must not be judged, whatever there is of it, as `run-session` wrote it down; undefined: it may be. */
export const invalidity = (run: RunDirectory): string | undefined => {
  if (!run.has('job.json')) return undefined;
  const { outcome, message = 'the session is invalid' } = run.json('job.json', job);
  return outcome === 'invalid' ? message : undefined;
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

/** Run id of each session → what the evidence calls it: the nodes of a spread, else the run ids. */
export const sessionNames = ({ sessions }: Pick<Analysis, 'sessions'>): Map<string, string> => {
  const nodes = new Set(sessions.map((one) => one.node));
  return new Map(sessions.map((one) => [one.run, nodes.size === sessions.length ? one.node : one.run]));
};

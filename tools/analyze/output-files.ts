/** Which files an analysis writes, and how they go. */
import { rmSync } from 'node:fs';
import { type RunDirectory, touchAll } from '../../shared/rundir.ts';

/** Everything that `analyze` may write into a run directory; analysis.json last, it vouches for the others. */
export const OUTPUTS = [
  'results.jsonl',
  'seeds.jsonl',
  'ENV.txt',
  'noise.json',
  'calibration.json',
  'analysis.json',
] as const;

/** A step skipped as done leaves its outputs newer than their inputs. */
export const touchOutputs = (directory: RunDirectory): void => touchAll(directory, OUTPUTS);

/** What `view` made of an analysis. */
export const PAGE = 'report.html';

/** Removes outputs that no longer hold, and the page that was made of them. */
export const removeOutputs = (
  directory: RunDirectory,
  names: readonly (typeof OUTPUTS)[number][] = OUTPUTS,
): void => {
  rmSync(directory.file(PAGE), { force: true });
  // analysis.json first: a reader never finds it beside files of another analysis.
  for (const name of names.toReversed()) rmSync(directory.file(name), { force: true });
};

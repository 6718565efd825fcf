/** Strips of samples for the terminal that somebody sits at. */
import { statSync } from 'node:fs';
import type { Analysis } from '../../schemas/analysis.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { readRows } from '../../shared/run-results.ts';
import type { World } from '../../shared/world.ts';
import { type Strips, stripsOf } from './strips.ts';

/** Rows of more bytes take longer to read again than a strip is worth. */
const LARGEST = 50 << 20;

/** None where nobody looks, or where the samples were not kept. */
export const stripsFor = (
  directory: RunDirectory | undefined,
  analysis: Analysis,
  { isTerminal, columns }: World['stderr'],
): Strips | undefined => {
  if (!isTerminal || !directory?.has('results.jsonl')) return undefined;
  if (statSync(directory.file('results.jsonl')).size > LARGEST) return undefined;
  return stripsOf(analysis, readRows(directory, analysis), columns);
};

/** Bundles what runs in the pods of trials and models into one file: `bun tools/trials/bundle.ts [OUT]`, dist/trials.mjs by default. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeAtomically } from '../../shared/files.ts';
import { oneFile } from '../../shared/one-file.ts';
import { inTree } from '../../shared/own-files.ts';

/** Text of trials.mjs. */
export const trialsBundle = (): Promise<string> => oneFile('tools/trials/in-pod/main.ts');

if (import.meta.main) {
  const out = process.argv[2] ?? inTree('dist/trials.mjs');
  mkdirSync(dirname(out), { recursive: true });
  writeAtomically(out, await trialsBundle());
}

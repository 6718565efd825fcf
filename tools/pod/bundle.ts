/** Bundles the session into one file: `bun tools/pod/bundle.ts [OUT]`, dist/pod.mjs by default. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { sha256, writeAtomically } from '../../shared/files.ts';
import { oneFile } from '../../shared/one-file.ts';
import { inTree } from '../../shared/own-files.ts';

/** Text of pod.mjs. */
export const podBundle = (): Promise<string> => oneFile('tools/pod/in-pod.ts');

if (import.meta.main) {
  const out = process.argv[2] ?? inTree('dist/pod.mjs');
  const text = await podBundle();
  mkdirSync(dirname(out), { recursive: true });
  writeAtomically(out, text);
  process.stderr.write(`pod: ${out} (${text.length} bytes, sha256 ${sha256(text)})\n`);
}

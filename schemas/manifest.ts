/** MANIFEST.sha256: the digest of each file of a finished session, in sha256sum's format. A run without it is unfinished. DESIGN §3. */
import * as v from 'valibot';
import { isInside, sha256, text } from './primitives.ts';

/** A path inside the run directory: relative, `/` as separator, no `..`. */
export const insidePath = v.pipe(text, v.check(isInside, 'expected a path inside the run directory'));

export const manifest = v.array(v.object({ sha256, path: insidePath }));
export type Manifest = v.InferOutput<typeof manifest>;

/** `<sha256>  <path>` lines to entries; what does not fit the form becomes an entry that the schema refuses. */
export const parseManifest = (written: string): { sha256: string; path: string }[] =>
  written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ sha256: line.slice(0, 64), path: line.slice(64, 66) === '  ' ? line.slice(66) : '' }));

/** Entries to lines, in bytewise path order. */
export const formatManifest = (entries: Manifest): string =>
  entries
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map((one) => `${one.sha256}  ${one.path}\n`)
    .join('');

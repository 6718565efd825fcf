/** Where a manifest in a run directory is not what `render` writes from the directory's other files. */
import { isDeepStrictEqual } from 'node:util';
import { byName, isFields, shown as shownValue } from '../admitted-pod.ts';
import type { RunDirectory } from '../rundir.ts';
import { manifestOf } from './manifest.ts';
import { sessionOf } from './sessions.ts';

/** Where a value differs from the one that is rendered, one sentence each: `path: "2" became "4"`. */
const edits = (rendered: unknown, found: unknown, path = ''): string[] => {
  if (isDeepStrictEqual(rendered, found)) return [];
  const within = partsOf(rendered, found, path).flatMap(([a, b, place]) => edits(a, b, place));
  return within.length > 0 ? within : [`${path}: ${shownValue(rendered)} became ${shownValue(found)}`];
};

const partsOf = (
  rendered: unknown,
  found: unknown,
  path: string,
): [rendered: unknown, found: unknown, path: string][] => {
  if (isFields(rendered) && isFields(found)) {
    const keys = new Set([...Object.keys(rendered), ...Object.keys(found)]);
    return [...keys].map((key) => [rendered[key], found[key], path === '' ? key : `${path}.${key}`]);
  }
  if (!Array.isArray(rendered) || !Array.isArray(found)) return [];
  const [a, b] = [byName(rendered), byName(found)];
  if (a && b)
    return [...new Set([...a.keys(), ...b.keys()])].map((name) => [
      a.get(name),
      b.get(name),
      `${path} '${name}'`,
    ]);
  return rendered.length === found.length
    ? rendered.map((one, at) => [one, found[at], `${path}[${at}]`])
    : [];
};

/** Differences of a session's manifest from the rendered one, a sentence each; empty when it is that one, however it is written down. */
export const editsOf = async (run: RunDirectory, manifest: unknown): Promise<string[]> =>
  edits(manifestOf(await sessionOf(run)), manifest);

/** MANIFEST.sha256: written last, so that a run without it is unfinished; checked before a run is taken as done. */
import { formatManifest, manifest, parseManifest } from '../../schemas/manifest.ts';
import { sha256File } from '../../shared/files.ts';
import { check, readText } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';

export const MANIFEST = 'MANIFEST.sha256';

/** What a finished session consists of; everything else in a run directory is derived from these (DESIGN §3). */
const SOURCES = [
  'run.json',
  'plan.json',
  'profile.json',
  'values.json',
  'nodes.json',
  'manifest.yaml',
  'job.json',
  'pod.log',
  'cluster.json',
  'spread.json',
];

/** What a manifest names, as far as it is there; children by their own manifests. */
const namesIn = (children: readonly string[]): string[] => [
  ...SOURCES,
  ...children.map((child) => `${child}/${MANIFEST}`),
];

const ALWAYS = ['run.json', 'plan.json', 'profile.json', 'values.json', 'job.json'];

/** What every finished run has. */
const neededOf = (children: readonly string[]): string[] => [
  ...ALWAYS,
  ...(children.length === 0
    ? ['pod.log']
    : ['spread.json', ...children.map((child) => `${child}/${MANIFEST}`)]),
];

/** Writes the digests of a finished run. */
export const writeManifest = async (run: RunDirectory, children: readonly string[]): Promise<void> => {
  const digests = await run.digests(namesIn(children));
  run.write(MANIFEST, formatManifest(Object.entries(digests).map(([path, sha256]) => ({ sha256, path }))));
};

/** What no longer agrees with a finished run's manifest, and what it does not vouch for; empty when it fits. */
export const manifestProblems = async (run: RunDirectory, children: readonly string[]): Promise<string[]> => {
  const problems: string[] = [];
  const shown = `${run.shown}/${MANIFEST}`;
  const entries = check(manifest, { value: parseManifest(readText(run.file(MANIFEST), shown)) }, shown);
  for (const entry of entries) {
    if (!run.has(entry.path)) problems.push(`'${run.shown}/${entry.path}' is gone`);
    else if ((await sha256File(run.file(entry.path))) !== entry.sha256)
      problems.push(`'${run.shown}/${entry.path}' was changed`);
  }
  for (const child of children)
    if (run.has(`${child}/${MANIFEST}`))
      problems.push(...(await manifestProblems(runDirectory(run.file(child), `${run.shown}/${child}`), [])));
  // A manifest cut short must not vouch for the rest.
  for (const name of neededOf(children)) {
    const times = entries.filter((one) => one.path === name).length;
    if (times !== 1)
      problems.push(`'${shown}' names '${name}' ${times === 0 ? 'not at all' : `${times} times`}`);
  }
  return problems;
};

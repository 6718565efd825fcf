/** MANIFEST.sha256: written last, so that a run without it is unfinished; checked before a run is taken as done. */
import { formatManifest, manifest, parseManifest } from '../../schemas/manifest.ts';
import { sha256File } from '../../shared/files.ts';
import { check, readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';

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

/** Writes the digests of a finished run; children are named by their own manifests. */
export const writeManifest = async (run: RunDirectory, children: readonly string[]): Promise<void> => {
  const names = [...SOURCES, ...children.map((child) => `${child}/${MANIFEST}`)];
  const digests = await run.digests(names);
  run.write(MANIFEST, formatManifest(Object.entries(digests).map(([path, sha256]) => ({ sha256, path }))));
};

/** What no longer agrees with a finished run's manifest; empty when it fits. */
export const manifestProblems = async (run: RunDirectory): Promise<string[]> => {
  const problems: string[] = [];
  const shown = `${run.shown}/${MANIFEST}`;
  for (const entry of check(manifest, { value: parseManifest(readText(run.file(MANIFEST), shown)) }, shown)) {
    if (!run.has(entry.path)) problems.push(`'${run.shown}/${entry.path}' is gone`);
    else if ((await sha256File(run.file(entry.path))) !== entry.sha256)
      problems.push(`'${run.shown}/${entry.path}' was changed`);
  }
  return problems;
};

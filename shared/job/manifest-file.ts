/** manifest.yaml, where it stands in a run directory: `render` writes it, and whoever changes what it was made from removes it. */
import { rmSync } from 'node:fs';
import { run as runSchema } from '../../schemas/run.ts';
import type { RunDirectory } from '../rundir.ts';

export const MANIFEST_FILE = 'manifest.yaml';

/** Removes the Jobs of a run and of its sessions: one that was rendered from other inputs would measure something else. */
export const removeManifests = (run: RunDirectory): void => {
  const { children = [] } = run.json('run.json', runSchema);
  for (const path of [MANIFEST_FILE, ...children.map((name) => `${name}/${MANIFEST_FILE}`)])
    rmSync(run.file(path), { force: true });
};

/** trials.yaml: the Jobs' documents, as `trials` wrote them. */
import { join } from 'node:path';
import type { Trial, Trials } from '../../../schemas/trials.ts';
import { failed } from '../../../shared/failure.ts';
import { sha256 } from '../../../shared/files.ts';
import { readText } from '../../../shared/read.ts';
import type { RunDirectory } from '../../../shared/rundir.ts';
import { parseForeignYaml } from '../../../shared/yaml.ts';
import { RUN } from '../../../shared/task-run/names.ts';

export const MANIFESTS_FILE = 'trials.yaml';

export interface JobManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  spec: Record<string, unknown>;
}

/** Most problems that are told; a wrong file has one per Job. */
const TOLD = 10;

/**
 * The document of each trial's Job, by its digest in trials.json: nothing that was changed since is submitted. A document is
 * parsed when it is asked for.
 */
export const documentsOf = (run: RunDirectory, trials: Trials): ((trial: Trial) => JobManifest) => {
  const shown = join(run.shown, MANIFESTS_FILE);
  const again = `make both files again with 'k8sbench trials --out ${run.shown}'`;
  if (!run.has(MANIFESTS_FILE)) throw failed(`'${run.shown}' has no ${MANIFESTS_FILE}; ${again}`);
  const parts = readText(run.file(MANIFESTS_FILE), shown).split(/^---\n/m);
  const byDigest = new Map(parts.map((one) => [sha256(one), one]));
  const changed = trials.trials.filter((one) => !byDigest.has(one.sha256));
  if (changed.length > 0)
    throw failed([
      ...changed.slice(0, TOLD).map((one) => `${shown}: the Job '${one.job}' is not the one of trials.json`),
      `${changed.length} Jobs were changed after they were printed; ${again}`,
    ]);
  return (trial) => {
    const manifest = parseForeignYaml(byDigest.get(trial.sha256)!, shown) as JobManifest;
    const { kind, metadata } = manifest;
    const of = metadata?.labels?.[RUN];
    if (
      kind !== 'Job' ||
      metadata.name !== trial.job ||
      metadata.namespace !== trials.namespace ||
      of !== trials.run
    )
      throw failed(
        `${shown}: expected the Job '${trial.job}' of run '${trials.run}' in namespace '${trials.namespace}', found ${kind} '${metadata?.name}' of '${of}' in '${metadata?.namespace}'; ${again}`,
      );
    return manifest;
  };
};

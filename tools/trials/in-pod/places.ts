/** Where things lie in the pods; the manifests mount them there. `K8SBENCH_PLACE` moves all of them below one directory, for tests. */
import { MODEL_CLAIM, stagedPath, TRIAL_CLAIM } from '../../../shared/task-run/names.ts';

const top = process.env['K8SBENCH_PLACE'] ?? '';
const ours = `${top}/k8sbench`;

/** The pod's copy of what a trial needs of the staged bundle. */
const runtime = `${ours}/runtime`;

export const PLACES = {
  runtime,
  /** A staged bundle on its claim. */
  bundle: (staged: string): string => `${top}${TRIAL_CLAIM}/${stagedPath(staged)}`,
  gate: { ask: `${ours}/ask`, answer: `${ours}/answer` },
  trial: {
    runtime,
    ask: `${ours}/ask`,
    answer: `${ours}/answer`,
    home: `${ours}/home`,
    root: `${top}/`,
    tests: `${top}/tests`,
    logs: `${top}/logs/verifier`,
  },
  /** A model's directory on its claim. */
  model: (id: string): string => `${top}${MODEL_CLAIM}/${id}`,
} as const;

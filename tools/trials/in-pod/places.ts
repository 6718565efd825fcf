/** Where things lie in the pods; the manifests mount them there. `K8SBENCH_PLACE` moves all of them below one directory, for tests. */
const top = process.env['K8SBENCH_PLACE'] ?? '';

export const PLACES = {
  /** The staged bundle, on the claim. */
  bundle: `${top}/k8sbench/bundle`,
  /** The pod's copy of what a trial needs of it. */
  runtime: `${top}/k8sbench/runtime`,
  gate: {
    ask: `${top}/k8sbench/ask`,
    answer: `${top}/k8sbench/answer`,
    tests: `${top}/k8sbench/tests`,
  },
  trial: {
    runtime: `${top}/k8sbench/runtime`,
    ask: `${top}/k8sbench/ask`,
    answer: `${top}/k8sbench/answer`,
    home: `${top}/k8sbench/home`,
    root: `${top}/`,
    tests: `${top}/tests`,
    logs: `${top}/logs/verifier`,
  },
  /** The model's directory on the models' claim. */
  model: `${top}/k8sbench/model`,
} as const;

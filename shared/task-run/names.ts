/** Names and labels of what a task-completion run has in a cluster. `stage`, `model` and `trials` print them. Spec §9. Pure. */

/** Every object of k8sbench carries it; sessions keep away from pods that do. */
export const OURS = {
  'app.kubernetes.io/name': 'k8sbench',
  'app.kubernetes.io/managed-by': 'k8sbench',
} as const;

export const COMPONENT = 'app.kubernetes.io/component';
export const INSTANCE = 'app.kubernetes.io/instance';
export const RUN = 'app.kubernetes.io/part-of';
/** On trial pods: the model they may speak to. */
export const MODEL = 'k8sbench/model';

export const modelName = (id: string): string => `k8sbench-model-${id}`;
export const modelUrl = (id: string, namespace: string): string =>
  `http://${modelName(id)}.${namespace}.svc:8000/v1`;
export const MODEL_PORT = 8000;

/** Labels of an object, and of its pods. */
export const labelsOf = (component: string, instance: string): Record<string, string> => ({
  ...OURS,
  [COMPONENT]: component,
  [INSTANCE]: instance,
});

/** Where claims are mounted, and what lies on them. */
export const TRIAL_CLAIM = '/k8sbench/claim';
export const MODEL_CLAIM = '/k8sbench/models';
export const stagedPath = (sha256: string): string => `bundles/${sha256}`;
/** A fetch that would fail again, whatever it is given another pod. */
export const HOPELESS_EXIT = 3;
/** The program that runs in these pods, in a staged bundle. */
export const PROGRAM = 'lib/trials.mjs';

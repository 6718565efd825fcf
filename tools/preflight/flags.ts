/** The command line of `preflight`: the settings of a run that a cluster can refuse, as `plan` has them. */
import { type Flags, list, readText, selector, text, type Values, whole, yes } from '../../shared/flags.ts';

export const flags = {
  run: text('run directory to check for, or - for its path on stdin; without it: the settings below', 'DIR'),
  values: text('values file (Default: $K8SBENCH_VALUES, else values.local.yaml)', 'FILE'),
  kubeconfig: text('kubeconfig file', 'FILE'),
  context: text('context of the kubeconfig', 'NAME'),
  namespace: text('namespace of the Job', 'NAME'),
  image: text("benchmark image, by digest, or the archive that 'bundle image' wrote", 'IMAGE'),
  bundle: text('directory of artifacts', 'DIR'),
  'base-image': text('image that runs a bundle, by digest', 'IMAGE'),
  'allow-unpinned-image': yes('take an image by tag'),
  cpus: whole('whole CPUs (Default: 2)', 'N', { min: 1 }),
  memory: text('memory (Default: 8Gi)', 'QUANTITY'),
  node: text('run on this node', 'NAME'),
  nodes: list(
    'run on each of these nodes; with --spread or --pick-node: choose among them',
    'NAME,…',
    readText,
  ),
  'pick-node': yes('the node is to be picked by what is free'),
  spread: whole('run side by side on N nodes', 'N', { min: 1, max: 99 }),
  'node-selector': selector("labels that the node must have; replaces the file's"),
  pvc: text('claim that keeps the results', 'NAME'),
  json: yes('print the findings as JSON'),
  'dry-run': yes('print what would be asked, contact nothing'),
} as const satisfies Flags;
export type PreflightFlags = Values<typeof flags>;

/** Flags that say what a run directory says already. */
export const SETTINGS = (Object.keys(flags) as (keyof PreflightFlags)[]).filter(
  (name) => name !== 'run' && name !== 'json' && name !== 'dry-run',
);

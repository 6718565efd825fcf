/** The settings of a run that a cluster can refuse, as flags. */
import { type Flags, list, readText, selector, text, whole, yes } from '../flags.ts';

export const jobFlags = {
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
  'pick-node': yes('run on the node with the most free CPU'),
  spread: whole('run side by side on N nodes', 'N', { min: 1, max: 99 }),
  'node-selector': selector("labels that the node must have; replaces the file's"),
  pvc: text('claim that keeps the results', 'NAME'),
} as const satisfies Flags;

/** The command line of `pick-nodes`. */
import {
  choice,
  type Flags,
  list,
  readText,
  selector,
  text,
  type Values,
  whole,
  yes,
} from '../../shared/flags.ts';

export const flags = {
  run: text('run directory to pick for, or - for its path on stdin', 'DIR'),
  from: text("what 'kubectl get nodes,pods -A -o json' printed, or - for stdin; without it: the API", 'FILE'),
  cpus: whole('whole CPUs that must be free (Default: 2)', 'N', { min: 1 }),
  memory: text('memory that must be free (Default: 8Gi)', 'QUANTITY'),
  arch: choice("the artifacts' architecture", ['amd64', 'arm64']),
  'node-selector': selector('labels that the node must have'),
  nodes: list('candidates', 'NAME,…', readText),
  spread: whole('pick so many', 'N', { min: 1, max: 99 }),
  values: text(
    'values file; its tolerations count, too (Default: $K8SBENCH_VALUES, else values.local.yaml)',
    'FILE',
  ),
  kubeconfig: text('kubeconfig file', 'FILE'),
  context: text('context of the kubeconfig', 'NAME'),
  namespace: text('namespace whose pods are listed when others may not be', 'NAME'),
  json: yes('print the ranking as JSON'),
  out: choice('print nodes.json instead of writing it', ['-']),
  'dry-run': yes('print what would be listed, contact nothing'),
  force: yes('pick again'),
} as const satisfies Flags;
export type PickFlags = Values<typeof flags>;

/** From what is asked for to the ranking and the choice. */
import type { Nodes } from '../../schemas/nodes.ts';
import { type Cluster, connect } from '../../shared/kubernetes.ts';
import type { World } from '../../shared/world.ts';
import type { Asked } from './asked.ts';
import { tallyOf } from '../../shared/nodes/live.ts';
import { tallyFrom } from './offline.ts';
import { chooseCandidates, chooseListed } from '../../shared/nodes/ranking.ts';

/** Namespace in which pods are listed when they can't be everywhere. */
const namespaceOf = ({ values }: Asked, cluster: Cluster): string =>
  values.namespace ?? cluster.namespace ?? 'default';

const pickOffline = async ({ wanted }: Asked, from: string, world: World): Promise<Nodes> => {
  const tally = await tallyFrom(from, world);
  if (tally.nodes.length === 0) return chooseCandidates(tally, wanted, undefined);
  const picked = chooseListed(tally, 'cluster', wanted);
  const [only] = tally.namespaces;
  // A cluster has pods of its own in kube-system; a list with one other namespace was probably made without -A.
  return tally.namespaces.size === 1 && only !== 'kube-system'
    ? {
        ...picked,
        warnings: [
          `all pods are of namespace '${only}': if the list was made without '-A', free CPU and memory are upper bounds`,
          ...picked.warnings,
        ],
      }
    : picked;
};

/** Reads the list `from`, or asks the API when there is none. */
export const pick = async (asked: Asked, from: string | undefined, world: World): Promise<Nodes> => {
  if (from !== undefined) return pickOffline(asked, from, world);
  const cluster = connect(asked.values, world);
  const namespace = namespaceOf(asked, cluster);
  const { tally, basis } = await tallyOf(cluster, namespace);
  return basis === 'candidates'
    ? chooseCandidates(tally, asked.wanted, namespace)
    : chooseListed(tally, basis, asked.wanted, namespace);
};

/** For `--dry-run`: what would be asked of whom. */
export const wouldList = (cluster: Cluster, asked: Asked): object => ({
  server: cluster.server,
  context: cluster.context,
  lists: [
    'nodes',
    'pods in all namespaces',
    `where that is forbidden: pods in namespace '${namespaceOf(asked, cluster)}'`,
  ],
});

/** Nodes and pods from the API, as far as the account may list them. Only Forbidden narrows what is asked for. */
import type { Nodes } from '../../schemas/nodes.ts';
import { type Cluster, isForbidden } from '../kubernetes.ts';
import type { Node, Pod } from './objects.ts';
import { addNode, addPod, emptyTally, type Tally } from './tally.ts';

/** Finished and unbound pods count nowhere; leaving them out at the server is less to send. */
const COUNTED = 'status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!=';

/** Pages after which what they left is collected. */
const COLLECT_PAGES = 8;

const tallyNodes = async (cluster: Cluster, tally: Tally, see?: (node: Node) => void): Promise<void> => {
  await cluster.listPages<Node>(
    'nodes',
    {},
    () => tally.nodes.splice(0),
    (items) => {
      for (const one of items) {
        addNode(tally, one);
        see?.(one);
      }
    },
  );
};

const tallyPods = async (cluster: Cluster, tally: Tally, namespace?: string): Promise<void> => {
  let pages = 0;
  await cluster.listPages<Pod>(
    'pods',
    { fieldSelector: COUNTED, ...(namespace === undefined ? {} : { namespace }) },
    () => tally.used.clear(),
    (items) => {
      for (const one of items) addPod(tally, one);
      // By itself the runtime lets more gather. It takes some 10 ms, while the server makes the next page.
      if (++pages % COLLECT_PAGES === 0) Bun.gc(true);
    },
  );
};

/** True when it was allowed. */
const allowed = (asked: Promise<void>): Promise<boolean> =>
  asked.then(
    () => true,
    (error: unknown) => {
      if (isForbidden(error)) return false;
      throw error;
    },
  );

/**
 * What can be listed, and what that makes the ranking worth (spec §3). `see` is shown each node as it comes, for what the
 * tally does not keep; one of them more than once when the list has to begin again.
 */
export const tallyOf = async (
  cluster: Cluster,
  namespace: string,
  see?: (node: Node) => void,
): Promise<{ tally: Tally; basis: Nodes['basis'] }> => {
  const tally = emptyTally();
  if (!(await allowed(tallyNodes(cluster, tally, see)))) {
    await tallyPods(cluster, tally, namespace);
    return { tally, basis: 'candidates' };
  }
  if (await allowed(tallyPods(cluster, tally))) return { tally, basis: 'cluster' };
  await tallyPods(cluster, tally, namespace);
  return { tally, basis: 'namespace' };
};

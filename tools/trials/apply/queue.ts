/** Kueue, where the cluster has it: Jobs wait in a queue of the namespace, and it starts them. */
import { type Cluster, isForbidden, isNotFound, type KubernetesObject } from '../../../shared/kubernetes.ts';
import { usage } from '../../../shared/failure.ts';
import type { JobManifest } from './documents.ts';

/** `--queue none` leaves Kueue out of it. */
const NONE = 'none';

const LABEL = 'kueue.x-k8s.io/queue-name';

/** The namespace's queues; undefined: no Kueue, or nobody may know. */
const queuesIn = async (
  cluster: Cluster,
  namespace: string,
): Promise<{ names: string[] | undefined; forbidden: boolean }> => {
  try {
    const found = await cluster.list<KubernetesObject>('localqueues', { namespace });
    return { names: found.map((one) => one.metadata.name).toSorted(), forbidden: false };
  } catch (error) {
    if (isNotFound(error)) return { names: undefined, forbidden: false };
    if (isForbidden(error)) return { names: undefined, forbidden: true };
    throw error;
  }
};

/** The queue that Jobs go to: the one that is asked for, else the namespace's only one, else none. */
export const queueOf = async (
  cluster: Cluster,
  namespace: string,
  asked: string | undefined,
): Promise<string | undefined> => {
  if (asked === NONE) return undefined;
  const { names, forbidden } = await queuesIn(cluster, namespace);
  if (asked !== undefined) {
    // A Job that waits for a queue which does not exist waits for ever.
    if (!forbidden && !names?.includes(asked))
      throw usage(
        names === undefined
          ? `'--queue ${asked}': the cluster has no Kueue; leave the flag out`
          : `'--queue ${asked}': namespace '${namespace}' has no such queue, it has ${names.map((one) => `'${one}'`).join(', ') || 'none'}`,
      );
    return asked;
  }
  if ((names?.length ?? 0) > 1)
    throw usage(
      `namespace '${namespace}' has several queues of Kueue: ${names!.map((one) => `'${one}'`).join(', ')}; choose with '--queue NAME', or '--queue ${NONE}'`,
    );
  return names?.[0];
};

/** A Job that waits in a queue until it is let in. */
export const queued = (manifest: JobManifest, queue: string | undefined): JobManifest =>
  queue === undefined
    ? manifest
    : {
        ...manifest,
        metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels, [LABEL]: queue } },
        spec: { ...manifest.spec, suspend: true },
      };

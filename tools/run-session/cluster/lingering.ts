/**
 * Sessions of a bundle that have ended while their pods still run: such a pod waits for whoever reads its log. Its log's last
 * lines tell.
 */
import type { Cluster } from '../../../shared/kubernetes.ts';
import { BENCH, type Pod } from './objects.ts';

/** How `pod` begins a line, and enough bytes to see it. */
const KIND = /^\{"t":"(\w+)"/;
const KIND_BYTES = 64;

/** Whether a pod waits after its session's end. */
export const lingers = ({ spec }: Pod): boolean => {
  const bench = spec.containers.find((one) => one.name === BENCH);
  const env = (bench?.['env'] ?? []) as { name: string }[];
  return env.some(({ name }) => name === 'K8SBENCH_ACKNOWLEDGED');
};

/** What the line is that stands first among the last so many. */
const kindOf = async (
  cluster: Cluster,
  namespace: string,
  pod: Pod,
  tailLines: number,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const of = { namespace, pod: pod.metadata.name, container: BENCH, tailLines, limitBytes: KIND_BYTES };
  const parts = await Array.fromAsync(cluster.log(of, signal));
  return KIND.exec(Buffer.concat(parts).toString('latin1'))?.[1];
};

/** The state of a session that has ended; undefined while it goes on, and when that can't be told. */
export const endedState = async (
  cluster: Cluster,
  namespace: string,
  pod: Pod,
  signal: AbortSignal,
): Promise<'done, not collected' | 'failed' | undefined> => {
  try {
    if ((await kindOf(cluster, namespace, pod, 1, signal)) !== 'end') return undefined;
    const before = await kindOf(cluster, namespace, pod, 2, signal);
    return before === 'error' ? 'failed' : 'done, not collected';
  } catch {
    // It runs: that much is known.
    return undefined;
  }
};

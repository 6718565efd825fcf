/** What a session in a cluster is handed: where it goes, and how what is measured comes there. */
import type { Cluster } from '../../../shared/kubernetes.ts';
import type { Task } from '../task.ts';
import type { Pod } from './objects.ts';

/** What a way of delivery does beside the common rest. */
export interface Carrier {
  /** Called once the container runs, before its log says anything; absent: the pod has everything. */
  deliver?(pod: Pod, signal: AbortSignal): Promise<void>;
  /** The pod's own copy of its log. */
  spool?: Spool;
  /** The log is saved: the pod may end. */
  acknowledge?(pod: Pod): Promise<void>;
}

/** A copy of the log that no node rotates away. */
export interface Spool {
  /** In the pod it can be read while that runs, on a claim once it has ended. */
  lies: 'in the pod' | 'on a claim';
  /** Gives blocks of whole lines, from the byte `at` of the session's lines or from before it. */
  read(pod: Pod, at: () => number, take: (block: Uint8Array) => void, signal: AbortSignal): Promise<void>;
}

/** A session, and where it is measured. */
export interface InCluster {
  task: Task;
  cluster: Cluster;
  namespace: string;
  manifest: Record<string, unknown>;
  carrier: Carrier;
  /** Told to leave it to itself (SIGHUP). */
  hangup: AbortSignal;
}

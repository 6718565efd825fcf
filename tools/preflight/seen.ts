/** Everything that was looked at in the cluster: plain data, which the findings are made of. */
import type { Nodes } from '../../schemas/nodes.ts';
import type { AdmittedPod } from '../../shared/admitted-pod.ts';
import type { Tally } from '../../shared/nodes/tally.ts';
import type { Answer } from './answer.ts';
import type { LimitRange } from './limits.ts';
import type { Quota } from './quota.ts';
import type { Pull } from './registry.ts';
import type { Version } from './server.ts';

export interface NamespaceObject {
  metadata: { name: string; labels?: Record<string, string>; deletionTimestamp?: string };
}

export interface Seen {
  version: Version | undefined;
  /** By the right's name; undefined: the server would not say. */
  rights: ReadonlyMap<string, boolean | undefined>;
  namespace: Answer<NamespaceObject>;
  quotas: Answer<readonly Quota[]>;
  limits: Answer<readonly LimitRange[]>;
  /** Dry runs; undefined: not tried, as the account may not create it. */
  job: Answer<unknown> | undefined;
  pod: Answer<AdmittedPod> | undefined;
  /** Pull secrets by name, with their types. */
  secrets: ReadonlyMap<string, Answer<{ type?: string }>>;
  claim?: Answer<{ status?: { phase?: string } }>;
  serviceAccount?: Answer<unknown>;
  nodes: Answer<{ tally: Tally; basis: Nodes['basis'] }>;
  /** Names of the nodes that have the image by its digest. */
  holders: ReadonlySet<string>;
  /** What the image's registry answered; undefined: not asked, as it is named by tag, or on every node that fits. */
  pull?: Pull;
  /** What exec into a pod that is not there was answered; `noWebSocket`: plainly, and no WebSocket opens; undefined: not tried. */
  exec?: Answer<number> | { broken: string } | { noWebSocket: true };
}

/** cluster.json: what the API server says of the node that measured, an allowlist of it. Written by `run-session`. DESIGN §7. */
import * as v from 'valibot';
import { delivery, formatTag, sha256, text } from './primitives.ts';

const texts = v.record(v.string(), v.string());

export const cluster = v.looseObject({
  format: formatTag('cluster/1'),
  delivery,
  /** As the pod asked for it, and as the node ran it. */
  image: text,
  imageId: v.optional(text),
  bundleSha256: v.optional(sha256),
  serverVersion: v.optional(text),
  /** Only the name when the account may not read nodes. */
  node: v.object({
    name: text,
    labels: v.optional(texts),
    info: v.optional(texts),
    capacity: v.optional(texts),
    allocatable: v.optional(texts),
    taints: v.optional(v.array(v.object({ key: text, effect: text }))),
    /** The kubelet's own word, with --read-kubelet-config. */
    cpuManagerPolicy: v.optional(text),
  }),
  /** What could not be read, and why. */
  missing: v.array(text),
});
export type Clustered = v.InferOutput<typeof cluster>;

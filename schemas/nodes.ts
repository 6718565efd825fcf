/** nodes.json: nodes ranked by free CPU, how much the account could see, and the choice. Spec §3. Written by `pick-nodes`. */
import * as v from 'valibot';
import { count, finite, text } from './primitives.ts';

export const rankedNode = v.looseObject({
  name: text,
  /** CPUs; null where the basis can't tell. */
  freeCpu: v.nullable(finite),
  /** Bytes. */
  freeMemory: v.nullable(finite),
  allocatableCpu: v.nullable(finite),
  /** Unfinished pods bound to it, of those the account can list. */
  pods: count,
  /** Why it can't be used. */
  skip: v.optional(text),
});

export const nodes = v.looseObject({
  basis: v.picklist(['cluster', 'namespace', 'candidates']),
  nodes: v.array(rankedNode),
  /** The nodes picked, best first. */
  chosen: v.array(text),
  warnings: v.array(text),
});
export type Nodes = v.InferOutput<typeof nodes>;

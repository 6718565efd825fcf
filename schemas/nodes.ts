/** nodes.json: nodes ranked by free CPU, how much the account could see, and the choice. Spec §3. Written by `pick-nodes`. */
import * as v from 'valibot';
import { count, finite, inputs, text } from './primitives.ts';

const rankedNode = v.looseObject({
  name: text,
  /** CPUs; null where the basis can't tell. */
  freeCpu: v.nullable(finite),
  /** Bytes. */
  freeMemory: v.nullable(finite),
  allocatableCpu: v.nullable(finite),
  /** CPUs that the namespace's pods ask for on it, where nothing else is known (basis `candidates`). */
  requestedCpu: v.optional(finite),
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
  /** Digests of the run directory's files that it was chosen for. */
  inputs: v.optional(inputs),
});
export type Nodes = v.InferOutput<typeof nodes>;

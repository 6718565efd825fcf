/** A baseline file: values by tracker name, beside the commit they came from. Spec §7. A tracker line's `values` fit as well. */
import * as v from 'valibot';
import { finite } from './primitives.ts';

export const baseline = v.objectWithRest(
  { core: v.optional(v.string('expected a commit')), rule: v.optional(v.string('expected a rule')) },
  v.union([finite, v.string()], 'expected a finite number'),
);
export type Baseline = v.InferOutput<typeof baseline>;

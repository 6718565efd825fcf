/** prices.yaml: what a model's tokens cost, for `trials score`. People write it, so unknown keys are refused. */
import * as v from 'valibot';
import { amount, formatTag, text } from './primitives.ts';

const perMillion = v.strictObject(
  {
    input: amount,
    output: amount,
    /** Without a price, a trial that has such tokens has no cost. */
    cacheRead: v.optional(amount),
    cacheWrite: v.optional(amount),
  },
  'expected the price of a million tokens of each kind',
);

export const prices = v.strictObject({
  format: formatTag('prices/1'),
  /** As it is written behind amounts, for example USD. */
  currency: text,
  /** By the model's id in models.lock. */
  models: v.record(text, v.strictObject({ perMillionTokens: perMillion }), 'expected a map of models'),
});
export type Prices = v.InferOutput<typeof prices>;

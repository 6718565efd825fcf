/** results.jsonl and seeds.jsonl: the log's sample and seed lines without `t` and `seq`; candidates carry `version`. Spec §5. */
import * as v from 'valibot';
import { sample, seed } from './log.ts';

const { t: _sampleT, seq: _sampleSeq, ...sampleFields } = sample.entries;
const { t: _seedT, seq: _seedSeq, ...seedFields } = seed.entries;

export const resultLine = v.looseObject({
  ...sampleFields,
  version: v.optional(v.string()),
  // Rows of an imported run have a value for each metric, and neither turns nor a machine that was seen.
  open: v.optional(sampleFields.open),
  turn: v.optional(sampleFields.turn),
  gomaxprocs: v.optional(sampleFields.gomaxprocs),
  cpuModel: v.optional(sampleFields.cpuModel),
  cpuFeatures: v.optional(sampleFields.cpuFeatures),
});
export const seedLine = v.looseObject({ ...seedFields, version: v.optional(v.string()) });
export type ResultLine = v.InferOutput<typeof resultLine>;

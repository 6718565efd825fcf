/** results.jsonl and seeds.jsonl: the log's sample and seed lines without `t` and `seq`; candidates carry `version`. Spec §5. */
import * as v from 'valibot';
import { sample, seed } from './log.ts';

const { t: _sampleT, seq: _sampleSeq, ...sampleFields } = sample.entries;
const { t: _seedT, seq: _seedSeq, ...seedFields } = seed.entries;

export const resultLine = v.looseObject({ ...sampleFields, version: v.optional(v.string()) });
export const seedLine = v.looseObject({ ...seedFields, version: v.optional(v.string()) });
export type ResultLine = v.InferOutput<typeof resultLine>;
export type SeedLine = v.InferOutput<typeof seedLine>;

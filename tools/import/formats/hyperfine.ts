/** `hyperfine --export-json`: each run of a command is a process of its own. Pure. */
import * as v from 'valibot';
import { amount, text } from '../../../schemas/primitives.ts';
import { check, parseJson } from '../../../shared/read.ts';
import type { Found, Format } from '../found.ts';

const result = v.looseObject({
  command: text,
  /** s. */
  times: v.pipe(v.array(amount), v.minLength(1, 'expected at least one time')),
  exit_codes: v.optional(v.array(v.nullable(v.number()))),
  parameters: v.optional(v.record(v.string(), v.string())),
});
const file = v.looseObject({
  results: v.pipe(v.array(result), v.minLength(1, 'expected at least one result')),
});

const MS = 1000;

const failedRuns = (codes: readonly (number | null)[]): number => codes.filter((one) => one !== 0).length;

const benchmarkOf = ({ command, times, exit_codes: codes = [] }: v.InferOutput<typeof result>): Found => {
  const failed = failedRuns(codes);
  return {
    name: command,
    metrics: [{ key: 'time', unit: 'ms', basis: 'wall', better: 'lower' }],
    // In decimal: 1.5 ms, not 1.5000000000000002.
    samples: times.map((one) => ({ time: Number((one * MS).toPrecision(15)) })),
    ...(failed === 0
      ? {}
      : {
          doubts: [
            {
              name: 'failed-runs',
              value: failed,
              threshold: 0,
              side: 'above',
              sentence: `${failed} of ${codes.length} runs of '${command}' did not end with status 0`,
            },
          ],
        }),
  };
};

export const hyperfine: Format = {
  about: 'hyperfine --export-json: commands, whole processes',
  program: 'hyperfine',
  averaged: false,
  read(written, place) {
    const { results } = check(file, { value: parseJson(written, place) }, place);
    return { benchmarks: results.map(benchmarkOf), machine: {} };
  },
};

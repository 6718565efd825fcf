/** JMH's JSON (`-rf json`): with several forks each fork is a sample, with one its iterations. Pure. */
import * as v from 'valibot';
import { finite, text } from '../../../schemas/primitives.ts';
import { failed } from '../../../shared/failure.ts';
import { check, parseJson } from '../../../shared/read.ts';
import { mean } from '../../../shared/statistics.ts';
import type { Format, Found, FoundMetric } from '../found.ts';

const metric = v.looseObject({
  scoreUnit: text,
  rawData: v.optional(v.array(v.array(finite))),
});
const result = v.looseObject({
  benchmark: text,
  mode: text,
  params: v.optional(v.record(v.string(), v.string()), {}),
  primaryMetric: metric,
  secondaryMetrics: v.optional(v.record(v.string(), metric), {}),
});
const file = v.pipe(v.array(result), v.minLength(1, 'expected at least one result'));
type Result = v.InferOutput<typeof result>;

/** What JMH says of the virtual machine. */
const MACHINE = ['jmhVersion', 'jdkVersion', 'vmName', 'vmVersion', 'threads', 'forks'] as const;

const nameOf = ({ benchmark, mode, params }: Result, modes: ReadonlySet<string>): string => {
  const given = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return [
    benchmark,
    ...(given.length > 0 ? [`(${given.join(', ')})`] : []),
    ...(modes.size > 1 ? [` [${mode}]`] : []),
  ].join('');
};

const keyOf = (name: string): string =>
  name
    .replace(/^[^A-Za-z]+/, '')
    .replace(/^[A-Z]/, (one) => one.toLowerCase())
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '') || 'value';

const primaryOf = ({ mode, primaryMetric: { scoreUnit: unit } }: Result): FoundMetric =>
  mode === 'thrpt'
    ? { key: 'throughput', unit, basis: 'count', better: 'higher' }
    : { key: 'time', unit, basis: 'wall', better: 'lower' };

/** The samples of a metric: fork means, or the iterations of the only fork. */
const samplesOf = (raw: readonly (readonly number[])[]): number[] => {
  const forks = raw.filter((one) => one.length > 0);
  return forks.length > 1 ? forks.map(mean) : [...(forks[0] ?? [])];
};

const benchmarkOf = (one: Result, name: string, place: string): Found => {
  const raw = one.primaryMetric.rawData;
  if (!raw || raw.every((fork) => fork.length === 0))
    throw failed(`${place}: '${name}' has no raw data (mode ${one.mode}); measure in mode avgt, thrpt or ss`);
  const primary = primaryOf(one);
  const columns = new Map([[primary, samplesOf(raw)]]);
  for (const [as, { scoreUnit: unit, rawData = [] }] of Object.entries(one.secondaryMetrics)) {
    const key = keyOf(as);
    if (key !== primary.key) columns.set({ key, unit, basis: 'count', better: 'lower' }, samplesOf(rawData));
  }
  const count = columns.get(primary)!.length;
  const whole = [...columns].filter(([, values]) => values.length === count);
  const forks = raw.filter((fork) => fork.length > 0).length;
  return {
    name,
    metrics: whole.map(([each]) => each),
    samples: Array.from({ length: count }, (_, at) =>
      Object.fromEntries(whole.map(([{ key }, values]) => [key, values[at]!])),
    ),
    ...(forks > 1
      ? {}
      : {
          doubts: [
            {
              name: 'one-process',
              value: forks,
              threshold: 2,
              side: 'below',
              sentence: `all samples of '${name}' are iterations of one process; what a new process draws anew is not in the interval`,
            },
          ],
        }),
  };
};

export const jmh: Format = {
  about: 'JMH, -rf json: forks are the samples, or the iterations of a single one',
  program: 'JMH',
  averaged: true,
  read(written, place) {
    const results = check(file, { value: parseJson(written, place) }, place);
    const [first] = results;
    const modes = new Set(results.map((one) => one.mode));
    return {
      benchmarks: results.map((one) => benchmarkOf(one, nameOf(one, modes), place)),
      machine: Object.fromEntries(
        MACHINE.flatMap((name) => {
          const value = first![name];
          return typeof value === 'string' || typeof value === 'number' ? [[name, value]] : [];
        }),
      ),
    };
  },
};

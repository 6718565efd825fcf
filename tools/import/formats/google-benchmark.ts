/** Google Benchmark's JSON (`--benchmark_format=json`, `--benchmark_repetitions=N`): each repetition is a sample. Pure. */
import * as v from 'valibot';
import { finite, text } from '../../../schemas/primitives.ts';
import { failed } from '../../../shared/failure.ts';
import { check, parseJson } from '../../../shared/read.ts';
import type { Format, Found, FoundMetric } from '../found.ts';
import { put } from '../units.ts';

const run = v.looseObject({
  name: text,
  run_name: v.optional(text),
  run_type: v.optional(v.string()),
  real_time: v.optional(finite),
  cpu_time: v.optional(finite),
  time_unit: v.optional(v.picklist(['ns', 'us', 'ms', 's'])),
  error_occurred: v.optional(v.boolean()),
  error_message: v.optional(v.string()),
});
const file = v.looseObject({
  context: v.optional(v.looseObject({}), {}),
  benchmarks: v.array(run),
});

/** Fields that describe a run; every other number is a counter of the benchmark's own. */
const OWN = new Set([
  'family_index',
  'per_family_instance_index',
  'repetitions',
  'repetition_index',
  'threads',
  'iterations',
  'real_time',
  'cpu_time',
  'complexity_n',
]);

const camel = (name: string): string =>
  name
    .replace(/^[^A-Za-z]+/, '')
    .replace(/^[A-Z]/, (one) => one.toLowerCase())
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '') || 'counter';

const isRate = (name: string): boolean => name.endsWith('_per_second');

const measuresOf = (one: v.InferOutput<typeof run>): [FoundMetric, number][] => {
  const unit = one.time_unit ?? 'ns';
  const times: [FoundMetric, number | undefined][] = [
    [{ key: 'time', unit, basis: 'wall', better: 'lower' }, one.real_time],
    [{ key: 'cpuTime', unit, basis: 'cpu', better: 'lower' }, one.cpu_time],
  ];
  const counters = Object.entries(one).flatMap(([name, value]): [FoundMetric, number][] =>
    typeof value === 'number' && Number.isFinite(value) && !OWN.has(name)
      ? [
          [
            {
              key: camel(name),
              unit: isRate(name) ? '1/s' : '1',
              basis: 'count',
              better: isRate(name) ? 'higher' : 'lower',
            },
            value,
          ],
        ]
      : [],
  );
  return [...times.filter((each): each is [FoundMetric, number] => each[1] !== undefined), ...counters];
};

/** An instant as ours are written; undefined where the text is none. */
const instantOf = (value: unknown): string | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

export const googleBenchmark: Format = {
  about: 'Google Benchmark, --benchmark_format=json, with --benchmark_repetitions for samples',
  program: 'Google Benchmark',
  averaged: true,
  read(written, place) {
    const { context, benchmarks: runs } = check(file, { value: parseJson(written, place) }, place);
    const errors = runs.filter((one) => one.error_occurred === true);
    if (errors.length > 0)
      throw failed(
        errors.map((one) => `${place}: '${one.name}' failed: ${one.error_message ?? 'no reason given'}`),
      );
    const measured = runs.filter((one) => one.run_type !== 'aggregate');
    if (measured.length === 0)
      throw failed(
        `${place}: no repetition in it, only aggregates; measure without --benchmark_report_aggregates_only`,
      );
    const benchmarks = new Map<string, Found>();
    for (const one of measured) {
      const name = one.run_name ?? one.name;
      const benchmark = benchmarks.get(name) ?? { name, metrics: [], samples: [] };
      benchmarks.set(name, benchmark);
      const sample: Record<string, number> = {};
      for (const [metric, value] of measuresOf(one)) put(sample, benchmark, metric, value, place);
      benchmark.samples.push(sample);
    }
    const machine = Object.fromEntries(
      Object.entries(context).flatMap(([name, value]) =>
        typeof value === 'string' || typeof value === 'number'
          ? [[name, value]]
          : typeof value === 'boolean'
            ? [[name, value ? 'yes' : 'no']]
            : [],
      ),
    );
    const at = instantOf(context['date']);
    return { benchmarks: [...benchmarks.values()], machine, ...(at === undefined ? {} : { at }) };
  },
};

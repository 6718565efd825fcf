/** Units of other programs' files: how many of one make another, where both are of one dimension. Pure. */
import { failed } from '../../shared/failure.ts';
import type { Found, FoundMetric } from './found.ts';

/** What a word is a multiple of. */
const WORDS: Readonly<Record<string, readonly [of: string, factor: number]>> = {
  ns: ['s', 1e-9],
  us: ['s', 1e-6],
  µs: ['s', 1e-6],
  μs: ['s', 1e-6],
  ms: ['s', 1e-3],
  s: ['s', 1],
  sec: ['s', 1],
  min: ['s', 60],
  hr: ['s', 3600],
  day: ['s', 86_400],
  B: ['B', 1],
  kB: ['B', 1e3],
  MB: ['B', 1e6],
  GB: ['B', 1e9],
  KiB: ['B', 2 ** 10],
  MiB: ['B', 2 ** 20],
  GiB: ['B', 2 ** 30],
};

/** `ops/us` is 10⁶ of `ops/s`. A word that nobody knows is a dimension of its own. */
const measured = (unit: string): { dimension: string; factor: number } => {
  const words = unit.split('/').map((one) => WORDS[one] ?? ([one, 1] as const));
  return {
    dimension: words.map(([of]) => of).join('/'),
    factor: words.reduce((all, [, factor], at) => (at === 0 ? factor : all / factor), 1),
  };
};

/** How many of `to` one of `from` is; undefined when they are of different dimensions. */
export const factorBetween = (from: string, to: string): number | undefined => {
  const [a, b] = [measured(from), measured(to)];
  return a.dimension === b.dimension ? a.factor / b.factor : undefined;
};

/** A value in another unit, in decimal: 1.5 µs are 1500 ns, not 1500.0000000000002. */
export const converted = (value: number, factor: number): number =>
  factor === 1 ? value : Number((value * factor).toPrecision(15));

/** Puts a measure into a sample, in the unit that the benchmark's other samples have. */
export const put = (
  sample: Record<string, number>,
  { name, metrics }: Found,
  metric: FoundMetric,
  value: number,
  where: string,
): void => {
  const known = metrics.find((one) => one.key === metric.key);
  if (!known) metrics.push(metric);
  const factor = factorBetween(metric.unit, (known ?? metric).unit);
  if (factor === undefined || sample[metric.key] !== undefined)
    throw failed(
      `${where}: '${name}' has two measures '${metric.key}', in ${known!.unit} and in ${metric.unit}; call one of them something else`,
    );
  sample[metric.key] = converted(value, factor);
};

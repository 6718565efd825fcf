/** One sample row's value of each metric (spec §6), for what shows or hands on samples. Pure. */
import type { Analysis, Conclusion } from '../schemas/analysis.ts';
import type { ResultLine } from '../schemas/results.ts';
import { median } from './statistics.ts';

export interface SampleMetric {
  key: string;
  /** As people read it. */
  label: string;
  unit: string;
  basis: Conclusion['basis'];
  better: 'lower' | 'higher';
  /** May be negative: its differences are looked at, not its ratios. */
  signed?: true;
}

const built = (key: string, label: string, unit: string, basis: SampleMetric['basis']): SampleMetric => ({
  key,
  label,
  unit,
  basis,
  better: 'lower',
});

/** Metrics that sample rows may have without a profile's naming them, in the order they are shown. `cpu` comes from the log. */
const BUILT_IN: readonly SampleMetric[] = [
  built('warm', 'warm', 'ms', 'wall'),
  built('cold', 'cold', 'ms', 'wall'),
  built('cpuWarm', 'CPU warm', 'ms', 'cpu'),
  built('cpuCold', 'CPU cold', 'ms', 'cpu'),
  built('cpu', 'CPU of the process', 'ms', 'cpu'),
  built('cpuSeconds', 'CPU seconds', 's', 'cpu'),
  built('peakRss', 'peak RSS', 'MiB', 'count'),
  built('rss', 'RSS', 'MiB', 'count'),
  built('retained', 'retained', 'MiB', 'count'),
  { ...built('growthPerTurn', 'growth/turn', 'B', 'count'), signed: true },
  built('bytes', 'bytes', 'B', 'count'),
];

const TIME_UNITS = new Set(['ns', 'us', 'µs', 'ms', 's', 'min', 'h']);

/** Every metric of a run: the built-in ones and the profile's own. */
export const metricsOf = ({ metrics }: Pick<Analysis, 'metrics'>): SampleMetric[] => [
  ...BUILT_IN,
  ...metrics.map(({ key, unit, better, signed }) => ({
    key,
    label: key,
    unit,
    basis: TIME_UNITS.has(unit) ? ('wall' as const) : ('count' as const),
    better,
    ...(signed ? ({ signed: true } as const) : {}),
  })),
];

const finite = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** The median from index `from` on; undefined where there is nothing, or anything but numbers. */
const medianFrom = (values: unknown, from: number): number | undefined => {
  if (!Array.isArray(values) || values.length <= from) return undefined;
  const rest = values.slice(from);
  return rest.every((one) => finite(one) !== undefined) ? median(rest as number[]) : undefined;
};

/** The opening and the first turn together. */
const coldOf = (open: unknown, turns: unknown): number | undefined => {
  const [start, first] = [finite(open), finite(Array.isArray(turns) ? turns[0] : undefined)];
  return start === undefined || first === undefined ? undefined : start + first;
};

/** Metric → value, for those that this row has, in the order of `metrics`. Absent is not measured. */
export const sampleValues = (row: ResultLine, metrics: readonly SampleMetric[]): Map<string, number> => {
  const { open, turn, openCpu, turnCpu } = row;
  const cpuTurns = turnCpu && turnCpu.length === turn?.length ? turnCpu : undefined;
  const computed: Readonly<Record<string, number | undefined>> = {
    warm: medianFrom(turn, 1),
    cold: coldOf(open, turn),
    cpuWarm: medianFrom(cpuTurns, 1),
    cpuCold: coldOf(openCpu, cpuTurns),
  };
  const values = new Map<string, number>();
  for (const { key } of metrics) {
    const value = key in computed ? computed[key] : (finite(row[key]) ?? medianFrom(row[key], 0));
    if (value !== undefined) values.set(key, value);
  }
  return values;
};

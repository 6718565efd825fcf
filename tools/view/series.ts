/** Sample rows and readings arranged by session, size and target, for drawing. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Cpu } from '../../schemas/log.ts';
import type { ResultLine } from '../../schemas/results.ts';
import { roleOf, sessionNames, sessionOf } from '../../shared/run-results.ts';
import { metricsOf, type SampleMetric, sampleValues } from '../../shared/sample-values.ts';
import { type LogReadings, placeOf } from './log-readings.ts';
import type { Readings, RunPayload, Series } from './payload.ts';

const part = (value: unknown, scale: number): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value * scale : null;

/** The largest of the three pressures, µs; null where none is measured. */
const stalled = (one: Cpu): number | null => {
  const all = [one['psiCpuSomeUsec'], one['psiMemorySomeUsec'], one['psiIoSomeUsec']].filter(
    (value): value is number => typeof value === 'number',
  );
  return all.length === 0 ? null : Math.max(...all);
};

/** µs as a share of the sample's wall time. */
const shareOf = (usec: unknown, { wallMs }: Cpu): number | null =>
  wallMs > 0 ? part(usec, 1e-3 / wallMs) : null;

const readingsOf = (): Readings => ({
  start_s: [],
  wall_s: [],
  throttled: [],
  steal: [],
  pressure: [],
  mhz: [],
  probe_s: [],
});

const addReading = (to: Readings, one: Cpu, start_s: number): void => {
  to.start_s.push(start_s);
  to.wall_s.push(one.wallMs / 1000);
  to.throttled.push(shareOf(one.throttledUsec, one));
  to.steal.push(shareOf(one['stealUsec'], one));
  to.pressure.push(shareOf(stalled(one), one));
  to.mhz.push(part(one.mhz, 1));
  to.probe_s.push(part(one['probeUsec'], 1e-6));
};

/** The series of a run; `readings` by session. A session whose readings are not all there goes without. */
export const seriesOf = (
  analysis: Analysis,
  rows: readonly ResultLine[],
  readings: ReadonlyMap<string, LogReadings>,
): Pick<RunPayload, 'metrics' | 'series' | 'pressureOf'> => {
  const metrics = metricsOf(analysis);
  const all = new Map<string, Series>();
  const clocks = new Map<string, number>();
  const names = sessionNames(analysis);
  for (const row of rows) {
    const run = sessionOf(analysis, row);
    const session = names.get(run) ?? run;
    const { target, turns } = row;
    const key = JSON.stringify([session, turns, target]);
    const series = all.get(key) ?? {
      session,
      turns,
      target,
      role: roleOf(analysis, target),
      rounds: [],
      values: {},
      readings: readingsOf(),
    };
    all.set(key, series);
    const reading = readings.get(run)?.at.get(placeOf(target, turns, row.sample));
    const values = sampleValues(
      typeof reading?.usageUsec === 'number' ? { ...row, cpu: reading.usageUsec / 1000 } : row,
      metrics,
    );
    for (const [metric, value] of values)
      (series.values[metric] ??= Array<null>(series.rounds.length).fill(null)).push(value);
    series.rounds.push(row.sample);
    for (const column of Object.values(series.values))
      if (column.length < series.rounds.length) column.push(null);
    if (!reading || !series.readings) {
      delete series.readings;
      continue;
    }
    const start = clocks.get(session) ?? 0;
    addReading(series.readings, reading, start);
    clocks.set(session, start + reading.wallMs / 1000);
  }
  const series = [...all.values()];
  const used = new Set(series.flatMap((one) => Object.keys(one.values)));
  const pressureOf = [...readings.values()].find((one) => one.pressureOf !== undefined)?.pressureOf;
  return {
    ...(pressureOf === undefined ? {} : { pressureOf }),
    metrics: metrics.filter((one: SampleMetric) => used.has(one.key)),
    series,
  };
};

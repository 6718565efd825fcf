/**
 * Exact tracker values of one candidate at one size (spec §7), by their tracker names and in their order, before any
 * rounding: `pi…` are the reference's. Pure.
 */
import type { Verdict } from '../../schemas/analysis.ts';
import type { Seed } from '../../schemas/log.ts';
import { median } from '../../shared/statistics.ts';
import { referenceKey, verdictOf } from '../../shared/verdict.ts';
import type { OwnMetric } from './measured-profile.ts';
import type { Column, Pooled, TurnPool } from './number-pool.ts';
import type { Samples } from './samples.ts';

export type Values = Record<string, number>;

/** One target's part of a comparison. */
export interface Side {
  samples: Samples;
  seed: Seed | undefined;
}

/** MB (10^6 bytes) per MiB. */
const MB_PER_MIB = 1.048576;

/** The candidate's names in the order of the format. */
const ORDER = [
  'warm',
  'warmP95',
  'warmMax',
  'cold',
  'coldP95',
  'coldMax',
  'seedS',
  'cpuWarm',
  'cpuCold',
  'retainedMB',
  'growthPerTurn',
  'peakRssMB',
] as const;
type Name = (typeof ORDER)[number];

/** Metrics that have verdicts, in the order of the format; a profile's own follow. */
const COMPARED: readonly Name[] = [
  'warm',
  'warmP95',
  'cold',
  'coldP95',
  'cpuWarm',
  'cpuCold',
  'retainedMB',
  'peakRssMB',
  'seedS',
];

/** Names that the format has of the reference too: all but the largest cold time. */
const OF_REFERENCE: readonly Name[] = ORDER.filter((name) => name !== 'coldMax');

/** Reported only when every sample of both sides has them (spec §7). */
const OF_BOTH: ReadonlySet<Name> = new Set(['retainedMB', 'growthPerTurn', 'peakRssMB']);

const p50 = (column: Column | TurnPool | undefined): number | undefined => column?.summary?.p50;

/** Everything of one side that exists; times net of the floor's p50 when there is a floor, never clamped. */
const sideValues = ({ samples, seed }: Side, floor: Samples | undefined): Map<Name, number> => {
  const values = new Map<Name, number>();
  const put = (name: Name, value: number | undefined): void => {
    if (value !== undefined) values.set(name, value);
  };
  const net = (part: 'warm' | 'cold', found: Pooled | undefined, base: number | undefined): void => {
    if (!found || base === undefined) return;
    put(part, found.p50 - base);
    put(`${part}P95`, found.p95 - base);
    put(`${part}Max`, found.max - base);
  };
  net('warm', samples.warmTurns.summary, floor ? p50(floor.warmTurns) : 0);
  net('cold', samples.cold.summary, floor ? p50(floor.cold) : 0);
  if (typeof seed?.seedMs === 'number') put('seedS', seed.seedMs / 1000);
  put('cpuWarm', p50(samples.warmCpuTurns));
  put('cpuCold', p50(samples.cpuCold));
  const retained = p50(samples.retained);
  put('retainedMB', retained === undefined ? undefined : retained * MB_PER_MIB);
  put('growthPerTurn', p50(samples.growthPerTurn));
  const peak = p50(samples.peakRss);
  put('peakRssMB', peak === undefined ? undefined : peak * MB_PER_MIB);
  return values;
};

/** A profile's own metric: median over samples, or over all turns of all samples when pooled. */
const ownValue = (samples: Samples, key: string): number | undefined => {
  const own = samples.own.find((one) => one.metric.key === key)!;
  const perSample = p50(own.perSample);
  return own.metric.pooled && perSample !== undefined ? p50(own.pool) : perSample;
};

/** All values of one session, in the format's order. */
export const valuesOf = (
  candidate: Side,
  reference: Side,
  floor: Samples | undefined,
  own: readonly OwnMetric[],
): Values => {
  const ours = sideValues(candidate, floor);
  const theirs = sideValues(reference, floor);
  const values: Values = {};
  const counts = (name: Name): boolean => !OF_BOTH.has(name) || (ours.has(name) && theirs.has(name));
  for (const name of ORDER) if (ours.has(name) && counts(name)) values[name] = ours.get(name)!;
  for (const name of OF_REFERENCE)
    if (theirs.has(name) && counts(name)) values[referenceKey(name)] = theirs.get(name)!;
  const floorWarm = p50(floor?.warmTurns);
  const floorCold = p50(floor?.cold);
  if (floorWarm !== undefined) values['floorWarm'] = floorWarm;
  if (floorCold !== undefined) values['floorCold'] = floorCold;
  for (const { key } of own) {
    const [mine, other] = [ownValue(candidate.samples, key), ownValue(reference.samples, key)];
    if (mine === undefined || other === undefined) continue;
    values[key] = mine;
    values[referenceKey(key)] = other;
  }
  return values;
};

/** The reference's largest cold time: people ask for it, the tracker's format has no name for it. */
export const besideOf = (reference: Side, floor: Samples | undefined): Values => {
  const max = sideValues(reference, floor).get('coldMax');
  return max === undefined ? {} : { [referenceKey('coldMax')]: max };
};

/** Per value, the median over the sessions that all have it (spec §7). */
export const medianValues = (all: readonly Values[]): Values =>
  Object.fromEntries(
    Object.keys(all[0] ?? {})
      .filter((name) => all.every((one) => one[name] !== undefined))
      .map((name) => [name, median(all.map((one) => one[name]!))]),
  );

/** This run's verdicts, in the format's order; a pair with a value ≤ 0 has none. */
export const verdictsOf = (values: Values, own: readonly OwnMetric[]): Record<string, Verdict> => {
  const verdicts: Record<string, Verdict> = {};
  const judge = (name: string, better: 'lower' | 'higher'): void => {
    const [candidate, reference] = [values[name], values[referenceKey(name)]];
    if (candidate !== undefined && reference !== undefined && candidate > 0 && reference > 0)
      verdicts[name] = verdictOf(candidate, reference, better);
  };
  for (const name of COMPARED) judge(name, 'lower');
  for (const { key, better } of own) judge(key, better);
  return verdicts;
};

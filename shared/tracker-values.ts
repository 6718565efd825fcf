/** The tracker's values that have a reference's beside them, in its order (spec §7), as people read them. */

export interface TrackerValue {
  name: string;
  label: string;
  unit: string;
  better: 'lower' | 'higher';
}

const value = (name: string, label: string, unit: string): TrackerValue => ({
  name,
  label,
  unit,
  better: 'lower',
});

const BUILT_IN: readonly TrackerValue[] = [
  value('warm', 'warm', 'ms'),
  value('warmP95', 'warm p95', 'ms'),
  value('warmMax', 'warm max', 'ms'),
  value('cold', 'cold', 'ms'),
  value('coldP95', 'cold p95', 'ms'),
  value('coldMax', 'cold max', 'ms'),
  value('seedS', 'seed', 's'),
  value('cpuWarm', 'CPU warm', 'ms'),
  value('cpuCold', 'CPU cold', 'ms'),
  value('retainedMB', 'retained', 'MB'),
  value('growthPerTurn', 'growth/turn', 'B'),
  value('peakRssMB', 'peak RSS', 'MB'),
];

/** The built-in values and a profile's own metrics; without these, names that nobody described count as lower is better. */
export const trackerValues = (
  own: readonly { key: string; unit: string; better: 'lower' | 'higher' }[] = [],
): TrackerValue[] => [
  ...BUILT_IN,
  ...own.map(({ key, unit, better }) => ({ name: key, label: key, unit, better })),
];

import type { Verdict } from '../schemas/analysis.ts';

/**
 * The tracker's verdict of a candidate's value against a reference's, both above 0 (spec §7): more than 3 % worse is a
 * loss, 1.3 times better a win, more than 3 % better slightly better, anything else a tie. Where higher is better the two
 * change places, so that the same ratios count.
 */
export const verdictOf = (
  candidate: number,
  reference: number,
  better: 'lower' | 'higher' = 'lower',
): Verdict => {
  const [a, b] = better === 'lower' ? [candidate, reference] : [reference, candidate];
  if (a > 1.03 * b) return 'lose';
  if (b / a >= 1.3) return 'win';
  if (a < 0.97 * b) return 'slightly better';
  return 'tie';
};

/** The name of the reference's value beside a candidate's: `warm` → `piWarm` (spec §7). */
export const referenceKey = (key: string): string => `pi${key.charAt(0).toUpperCase()}${key.slice(1)}`;

const TRACKER_KEYS: Readonly<Record<string, string>> = { peakRss: 'peakRssMB', retained: 'retainedMB' };

/** The tracker's name of a metric's value: `peakRss` of the samples is `peakRssMB` there (spec §7). */
export const trackerKey = (metric: string): string => TRACKER_KEYS[metric] ?? metric;

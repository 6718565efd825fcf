/** Descriptive statistics, the definitions of spec §6 and §7. Pure; inputs are finite numbers. */

/** Ascending; typed, because sorting by a function takes ten times as long where the values are many. */
export const sortedCopy = (values: ArrayLike<number>): Float64Array => {
  const ascending = new Float64Array(values);
  ascending.sort();
  return ascending;
};

/** Quantile of an ascending list, linear between closest ranks: k = (n − 1)·p (spec §7). n = 0 is an error. */
export const quantileOfSorted = (ascending: ArrayLike<number>, p: number): number => {
  if (ascending.length === 0) throw new RangeError('a quantile of nothing');
  const k = (ascending.length - 1) * p;
  const below = Math.floor(k);
  const low = ascending[below]!;
  const high = ascending[Math.min(below + 1, ascending.length - 1)]!;
  return low + (high - low) * (k - below);
};

export const quantile = (values: ArrayLike<number>, p: number): number =>
  quantileOfSorted(sortedCopy(values), p);

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** Mean; n = 0 is an error. */
export const mean = (values: readonly number[]): number => {
  if (values.length === 0) throw new RangeError('a mean of nothing');
  return values.reduce((sum, one) => sum + one, 0) / values.length;
};

/** Sample standard deviation, n − 1; 0 for a single value. */
export const standardDeviation = (values: readonly number[]): number => {
  const centre = mean(values);
  if (values.length < 2) return 0;
  return Math.sqrt(values.reduce((sum, one) => sum + (one - centre) ** 2, 0) / (values.length - 1));
};

/** Pearson correlation; null where either side doesn't vary or there are fewer than 3 pairs. */
export const correlation = (xs: readonly number[], ys: readonly number[]): number | null => {
  if (xs.length !== ys.length || xs.length < 3) return null;
  const [mx, my] = [mean(xs), mean(ys)];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [at, x] of xs.entries()) {
    const [dx, dy] = [x - mx, ys[at]! - my];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;
};

/** Rounded to a whole number, halves toward +∞. Adding 0.5 first would itself round: 0.49999999999999994 + 0.5 is 1. */
export const roundHalfUp = (value: number): number => {
  const below = Math.floor(value);
  return (value - below >= 0.5 ? below + 1 : below) + 0;
};

/**
 * The value without the last bits' error of arithmetic, 15 significant digits: the median of 57.3 and 331.4, computed as
 * 194.34999999999997, is the half 194.35, and a half rounds up.
 */
export const settled = (value: number): number => Number(value.toPrecision(15));

/** Rounded to `digits` decimals, halves toward +∞, as the formats round when they write. Never -0. */
export const roundTo = (value: number, digits: number): number =>
  shifted(roundHalfUp(shifted(settled(value), digits)), -digits) + 0;

/** value · 10^digits through the decimal text, so that 1.005 → 100.5 and not 100.49999999999999. */
const shifted = (value: number, digits: number): number => {
  const [base, exponent = '0'] = String(value).split('e');
  return Number(`${base}e${Number(exponent) + digits}`);
};

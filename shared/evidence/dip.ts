/**
 * Hartigan's dip: how far a sample is from having one mode (Hartigan & Hartigan, "The dip test of unimodality", Annals of
 * Statistics 13 (1985) 70–84). Pure.
 */
import { generator } from './random.ts';

/**
 * For each point the index of the next one down (`step` −1: greatest convex minorant) or up (`step` 1: least concave
 * majorant) on the hull of the points (value, index).
 */
const hull = (x: Float64Array, step: 1 | -1): Int32Array => {
  const n = x.length;
  const start = step === -1 ? 0 : n - 1;
  const next = new Int32Array(n);
  next[start] = start;
  for (let at = start - step; at >= 0 && at < n; at -= step) {
    next[at] = at + step;
    for (;;) {
      const one = next[at]!;
      const other = next[one]!;
      // Kept when the slope to `one` is no worse than from there on.
      if (one === start || (x[at]! - x[one]!) * (one - other) < (x[one]! - x[other]!) * (at - one)) break;
      next[at] = other;
    }
  }
  return next;
};

const chain = (next: Int32Array, from: number, to: number, step: 1 | -1): number[] => {
  const points = [from];
  for (let at = from; step === -1 ? at > to : at < to;) points.push((at = next[at]!));
  return points;
};

/** Largest distance between the empirical distribution and one side of the hull, in points, over the given chain. */
const sideDip = (x: Float64Array, points: readonly number[], side: 1 | -1): number => {
  let largest = 0;
  for (let at = 1; at < points.length; at++) {
    const [from, to] = [Math.min(points[at - 1]!, points[at]!), Math.max(points[at - 1]!, points[at]!)];
    if (to - from <= 1 || x[to] === x[from]) continue;
    const slope = (to - from) / (x[to]! - x[from]!);
    for (let point = from; point <= to; point++) {
      const line = (x[point]! - x[from]!) * slope;
      largest = Math.max(largest, side === -1 ? point - from + 1 - line : line - (point - from - 1));
    }
  }
  return largest;
};

/** The dip of ascending values; between 1/(2n) and 1/4. Fewer than 4 values, or all equal: 1/(2n). */
export const dip = (ascending: Float64Array): number => {
  const x = ascending;
  const n = x.length;
  if (n < 4 || x[0] === x[n - 1]) return 1 / (2 * Math.max(1, n));
  const [down, up] = [hull(x, -1), hull(x, 1)];
  let [low, high, found] = [0, n - 1, 1];
  for (;;) {
    const minorant = chain(down, high, low, -1);
    const majorant = chain(up, low, high, 1);
    // Where the two hulls of the modal interval are furthest apart, at a corner of either.
    let [gap, nextLow, nextHigh] = [0, low, high];
    const height = (points: readonly number[], at: number): number => {
      for (let corner = 1; corner < points.length; corner++) {
        const [a, b] = [
          Math.min(points[corner - 1]!, points[corner]!),
          Math.max(points[corner - 1]!, points[corner]!),
        ];
        if (a <= at && at <= b) return x[a] === x[b] ? a : a + ((x[at]! - x[a]!) * (b - a)) / (x[b]! - x[a]!);
      }
      return at;
    };
    const right = (points: readonly number[], at: number): number =>
      Math.min(...points.filter((one) => one >= at));
    const left = (points: readonly number[], at: number): number =>
      Math.max(...points.filter((one) => one <= at));
    for (const corner of minorant) {
      const apart = height(majorant, corner) - corner + 1;
      if (apart > gap) [gap, nextLow, nextHigh] = [apart, corner, right(majorant, corner)];
    }
    for (const corner of majorant) {
      const apart = corner - height(minorant, corner) + 1;
      if (apart > gap) [gap, nextLow, nextHigh] = [apart, left(minorant, corner), corner];
    }
    if (gap < found) break;
    const outer = Math.max(
      sideDip(x, chain(down, nextLow, low, -1), -1),
      sideDip(x, chain(up, nextHigh, high, 1), 1),
    );
    found = Math.max(found, outer);
    if ((nextLow === low && nextHigh === high) || nextLow > nextHigh) break;
    [low, high] = [nextLow, nextHigh];
  }
  return found / (2 * n);
};

const DRAWS = 1999;
/** Above this many values the dip times √n hardly depends on n. */
const LARGE = 200;

const nulls = new Map<number, Float64Array>();

/** Dips of uniform samples of n values, ascending: the least favourable distribution with one mode. Seeded, kept. */
const uniformDips = (n: number): Float64Array => {
  const known = nulls.get(n);
  if (known) return known;
  const random = generator(n);
  const dips = Float64Array.from({ length: DRAWS }, () =>
    dip(Float64Array.from({ length: n }, random).sort()),
  ).sort();
  nulls.set(n, dips);
  return dips;
};

/** p of a dip of n values, by a seeded draw of uniform samples. */
export const dipP = (value: number, n: number): number => {
  const size = Math.min(n, LARGE);
  const scaled = value * Math.sqrt(n / size);
  const reached = uniformDips(size).filter((one) => one >= scaled - 1e-12).length;
  return (reached + 1) / (DRAWS + 1);
};

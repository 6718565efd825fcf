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

/** The two ends of each piece of a chain, the lower first. */
const pieces = (points: readonly number[]): [number, number][] =>
  points.slice(1).map((one, at) => [Math.min(points[at]!, one), Math.max(points[at]!, one)]);

/** Largest distance between the empirical distribution and one side of the hull, in points, over the given chain. */
const sideDip = (x: Float64Array, points: readonly number[], side: 1 | -1): number => {
  let largest = 0;
  for (const [from, to] of pieces(points)) {
    if (to - from <= 1 || x[to] === x[from]) continue;
    const slope = (to - from) / (x[to]! - x[from]!);
    for (let point = from; point <= to; point++) {
      const line = (x[point]! - x[from]!) * slope;
      largest = Math.max(largest, side === -1 ? point - from + 1 - line : line - (point - from - 1));
    }
  }
  return largest;
};

/** Height of a chain, in points, at the value of point `at`. */
const heightAt = (x: Float64Array, points: readonly number[], at: number): number => {
  const piece = pieces(points).find(([from, to]) => from <= at && at <= to);
  if (!piece) return at;
  const [from, to] = piece;
  return x[from] === x[to] ? from : from + ((x[at]! - x[from]!) * (to - from)) / (x[to]! - x[from]!);
};

/** Where the two hulls of [low, high] are furthest apart, at a corner of either, and the corners around that place. */
const widest = (x: Float64Array, minorant: readonly number[], majorant: readonly number[]) => {
  let best = { gap: 0, low: majorant[0]!, high: minorant[0]! };
  for (const corner of minorant) {
    const gap = heightAt(x, majorant, corner) - corner + 1;
    if (gap > best.gap)
      best = { gap, low: corner, high: Math.min(...majorant.filter((one) => one >= corner)) };
  }
  for (const corner of majorant) {
    const gap = corner - heightAt(x, minorant, corner) + 1;
    if (gap > best.gap)
      best = { gap, low: Math.max(...minorant.filter((one) => one <= corner)), high: corner };
  }
  return best;
};

/** The dip of ascending values; between 1/(2n) and 1/4. Fewer than 4 values, or all equal: 1/(2n). */
export const dip = (ascending: Float64Array): number => {
  const n = ascending.length;
  if (n < 4 || ascending[0] === ascending[n - 1]) return 1 / (2 * Math.max(1, n));
  const [down, up] = [hull(ascending, -1), hull(ascending, 1)];
  let [low, high, found] = [0, n - 1, 1];
  // The modal interval shrinks until the hulls inside it are no further apart than the dip found outside it.
  for (;;) {
    const next = widest(ascending, chain(down, high, low, -1), chain(up, low, high, 1));
    if (next.gap < found) break;
    found = Math.max(
      found,
      sideDip(ascending, chain(down, next.low, low, -1), -1),
      sideDip(ascending, chain(up, next.high, high, 1), 1),
    );
    if ((next.low === low && next.high === high) || next.low > next.high) break;
    [low, high] = [next.low, next.high];
  }
  return found / (2 * n);
};

const DRAWS = 1999;
/** Above this many values the dip times √n hardly depends on n. */
const LARGE = 200;

const nulls = new Map<number, Float64Array>();

/** Dips of uniform samples of n values: the least favourable distribution with one mode. Seeded, kept. */
const uniformDips = (n: number): Float64Array => {
  const known = nulls.get(n);
  if (known) return known;
  const random = generator(n);
  const dips = Float64Array.from({ length: DRAWS }, () =>
    dip(Float64Array.from({ length: n }, random).toSorted()),
  );
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

/**
 * Quantiles without sorting: a log of hundreds of megabytes holds tens of millions of turns, and sorting them would take
 * longer than reading them. The numbers are spread over buckets from the smallest to the largest and counted; only the
 * buckets that hold a wanted one are looked into. Equal to sorting first, which is what the test compares it with.
 */

/** Numbers, none of them NaN, that are read part by part, as often as wanted. */
export interface Numbers {
  readonly length: number;
  /** What the parts give are these multiples of the numbers; absent: the numbers themselves. */
  readonly scale?: number;
  /** The smallest and the largest of them, where they are known. */
  readonly bounds?: Bounds;
  /** Calls `take` with each part: its first `n` numbers count, and only during the call. */
  eachPart(take: (part: Float64Array, n: number) => void): void;
}

interface Bounds {
  low: number;
  high: number;
}

/**
 * The numbers from `low` to `high` whose `(number - low) * scale` is `index`, decimals left out. Each step of that keeps the
 * order, so however it rounds, no number is in a bucket before that of a smaller one.
 */
interface Bucket extends Bounds {
  scale: number;
  index: number;
}

const ALL: Bucket = { low: -Number.MAX_VALUE, high: Number.MAX_VALUE, scale: 0, index: 0 };

const MOST_BUCKETS = 1 << 16;
const counts = new Int32Array(MOST_BUCKETS);

/** So many are sorted. */
const isFew = (size: number, of: number): boolean => size <= Math.max(64, of / 256);

const widen = (bounds: Bounds, part: Float64Array, n: number, { low, high, scale, index }: Bucket): void => {
  let { low: smallest, high: largest } = bounds;
  for (let at = 0; at < n; at++) {
    const one = part[at]!;
    if (one < low || one > high || (((one - low) * scale) | 0) !== index) continue;
    if (one < smallest) smallest = one;
    if (one > largest) largest = one;
  }
  bounds.low = smallest;
  bounds.high = largest;
};

const count = (part: Float64Array, n: number, { low, high }: Bounds, scale: number): void => {
  for (let at = 0; at < n; at++) {
    const one = part[at]!;
    if (one < low || one > high) continue;
    const index = ((one - low) * scale) | 0;
    counts[index] = counts[index]! + 1;
  }
};

/** Copies the bucket's numbers to `into`, from `used` on; returns where they end. */
const gather = (
  into: Float64Array,
  used: number,
  part: Float64Array,
  n: number,
  { low, high, scale, index }: Bucket,
): number => {
  for (let at = 0; at < n; at++) {
    const one = part[at]!;
    if (one < low || one > high || (((one - low) * scale) | 0) !== index) continue;
    into[used++] = one;
  }
  return used;
};

/** The smallest and the largest number of a bucket. */
const boundsOf = (numbers: Numbers, bucket: Bucket): Bounds => {
  const bounds = { low: Infinity, high: -Infinity };
  numbers.eachPart((part, n) => widen(bounds, part, n, bucket));
  return bounds;
};

/** The numbers that sorting the bucket's `size` numbers would put at these ranks, ascending. */
const ranked = (numbers: Numbers, bucket: Bucket, size: number, ranks: readonly number[]): number[] => {
  if (isFew(size, numbers.length)) return sorted(numbers, bucket, size, ranks);
  const bounds = bucket === ALL && numbers.bounds ? numbers.bounds : boundsOf(numbers, bucket);
  const { low, high } = bounds;
  const buckets = Math.min(MOST_BUCKETS, 2 ** Math.ceil(Math.log2(size)));
  const scale = (buckets - 1) / (high - low);
  if (low === high) return ranks.map(() => low);
  // Bounds so near or so far that arithmetic fails.
  if (!(scale > 0 && scale < Infinity)) return sorted(numbers, bucket, size, ranks);
  counts.fill(0, 0, buckets);
  numbers.eachPart((part, n) => count(part, n, bounds, scale));
  const found: number[] = [];
  const groups: { index: number; before: number; size: number; ranks: number[] }[] = [];
  let index = 0;
  let before = 0;
  for (const rank of ranks) {
    while (before + counts[index]! <= rank) before += counts[index++]!;
    const last = groups.at(-1);
    if (last?.index === index) last.ranks.push(rank - before);
    else groups.push({ index, before, size: counts[index]!, ranks: [rank - before] });
  }
  for (const one of groups)
    found.push(...ranked(numbers, { low, high, scale, index: one.index }, one.size, one.ranks));
  return found;
};

const sorted = (numbers: Numbers, bucket: Bucket, size: number, ranks: readonly number[]): number[] => {
  const all = new Float64Array(size);
  let used = 0;
  numbers.eachPart((part, n) => (used = gather(all, used, part, n, bucket)));
  all.sort();
  return ranks.map((rank) => all[rank]!);
};

/** Quantiles by the definition of shared/statistics.ts, for ascending `ps`; at least one number. */
export const quantilesOf = (numbers: Numbers, ps: readonly number[]): number[] => {
  const last = numbers.length - 1;
  const below = ps.map((p) => Math.floor(last * p));
  const ranks = [...new Set(below.flatMap((rank) => [rank, Math.min(rank + 1, last)]))];
  const found = ranked(numbers, ALL, numbers.length, ranks);
  const scale = numbers.scale ?? 1;
  const at = new Map(ranks.map((rank, index) => [rank, found[index]! / scale]));
  return ps.map((p, index) => {
    const low = at.get(below[index]!)!;
    const high = at.get(Math.min(below[index]! + 1, last))!;
    return low + (high - low) * (last * p - below[index]!);
  });
};

/** Of so few numbers each is put where it belongs. */
const VERY_FEW = 48;

/** Median of the first n numbers, n > 0; they may be reordered. */
export const medianOfFirst = (a: Float64Array, n: number): number => {
  const below = (n - 1) >>> 1;
  if (n > VERY_FEW) {
    const numbers: Numbers = { length: n, eachPart: (take) => take(a, n) };
    const [low, high = low] = ranked(numbers, ALL, n, n % 2 === 1 ? [below] : [below, below + 1]);
    return low! + (high! - low!) * 0.5;
  }
  for (let at = 1; at < n; at++) {
    const one = a[at]!;
    let to = at;
    for (; to > 0 && a[to - 1]! > one; to--) a[to] = a[to - 1]!;
    a[to] = one;
  }
  return n % 2 === 1 ? a[below]! : a[below]! + (a[below + 1]! - a[below]!) * 0.5;
};

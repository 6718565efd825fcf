/**
 * Quantiles without sorting: a log of hundreds of megabytes holds tens of millions of turns, and sorting them would take
 * longer than reading them. Equal to sorting first, which is what the test compares it with.
 */

/**
 * Moves the numbers of a[from, to) so that a[k] is the one that sorting would put there, no larger one stands before it and
 * no smaller one after it. Hoare's quickselect; a range that doesn't shrink as it should is sorted, so the worst case stays
 * n log n.
 */
export const select = (a: Float64Array, from: number, to: number, k: number): void => {
  let low = from;
  let high = to - 1;
  let passes = 2 * Math.ceil(Math.log2(to - from + 1)) + 4;
  while (high - low > 16 && passes-- > 0) {
    const pivot = medianOfThree(a[low]!, a[(low + high) >>> 1]!, a[high]!);
    let i = low;
    let j = high;
    while (i <= j) {
      while (a[i]! < pivot) i++;
      while (a[j]! > pivot) j--;
      if (i > j) break;
      const held = a[i]!;
      a[i++] = a[j]!;
      a[j--] = held;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else return;
  }
  if (high - low > 16) a.subarray(low, high + 1).sort();
  else insertionSort(a, low, high);
};

const medianOfThree = (a: number, b: number, c: number): number =>
  Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));

const insertionSort = (a: Float64Array, low: number, high: number): void => {
  for (let at = low + 1; at <= high; at++) {
    const one = a[at]!;
    let to = at;
    for (; to > low && a[to - 1]! > one; to--) a[to] = a[to - 1]!;
    a[to] = one;
  }
};

/** The smallest of the numbers from index `from` on: the next one after those that a selection put before them. */
const smallestFrom = (a: Float64Array, from: number, to: number): number => {
  let smallest = a[from]!;
  for (let at = from + 1; at < to; at++) if (a[at]! < smallest) smallest = a[at]!;
  return smallest;
};

/** Quantiles of the first n numbers, n > 0, by the definition of shared/statistics.ts, for ascending `ps`; they are reordered. */
export const selectQuantiles = (a: Float64Array, n: number, ps: readonly number[]): number[] => {
  const found: number[] = [];
  let done = 0;
  for (const p of ps) {
    const k = (n - 1) * p;
    const below = Math.floor(k);
    select(a, done, n, below);
    done = below;
    const low = a[below]!;
    const high = below + 1 < n ? smallestFrom(a, below + 1, n) : low;
    found.push(low + (high - low) * (k - below));
  }
  return found;
};

/** Median of the first n numbers, n > 0; they are reordered. */
export const medianOfFirst = (a: Float64Array, n: number): number => {
  const below = (n - 1) >>> 1;
  select(a, 0, n, below);
  const low = a[below]!;
  return n % 2 === 1 ? low : low + (smallestFrom(a, below + 1, n) - low) * 0.5;
};

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

/** Quantiles of a non-empty array by the definition of shared/statistics.ts, for ascending `ps`; the array is reordered. */
export const selectQuantiles = (a: Float64Array, ps: readonly number[]): number[] => {
  let done = 0;
  return ps.map((p) => {
    const k = (a.length - 1) * p;
    const below = Math.floor(k);
    const above = Math.min(below + 1, a.length - 1);
    select(a, done, a.length, below);
    if (above > below) select(a, below + 1, a.length, above);
    done = below;
    return a[below]! + (a[above]! - a[below]!) * (k - below);
  });
};

/**
 * Change points of a history: E-divisive means in windows of several scales, then only those that stand against their whole
 * neighbourhood. Windows keep it linear in the length and find short episodes (Fleming et al., "Hunter", ICPE 2023); block
 * means let the same window see small steps between long stretches. Pure.
 */
import { mean, median } from '../statistics.ts';
import { bestSplit, SHORTEST, splitTest } from './energy.ts';
import { generator, type Random } from './random.ts';

/** Points, or blocks of points, in one window; windows overlap by half. */
const WINDOW = 64;
/** Each scale's blocks hold this many times the points of the one below. */
const COARSER = 4;
/** Level of a window's test: what passes is looked at again. */
const FIRST_LEVEL = 0.02;
/** Enough draws for that level; the second look takes more. */
const FIRST_DRAWS = 199;
/** Points on either side that decide where exactly a change lies. */
const NEAR = 100;

export interface Change {
  /** Index of the first value after the change. */
  at: number;
  /** p of the best split of the stretch from the change before to the change after. */
  p: number;
  /** Medians of the two stretches beside it. */
  before: number;
  after: number;
}

/** Means of `size` values each; a rest that fills less than half a block is left out. */
const blockMeans = (values: Float64Array, size: number): Float64Array =>
  size === 1
    ? values
    : Float64Array.from({ length: Math.round(values.length / size) }, (_, at) =>
        mean(Array.from(values.subarray(at * size, (at + 1) * size))),
      );

/** Splits a window again and again while its best split passes; indices are the window's. */
const splitsOf = (values: Float64Array, random: Random, offset = 0): number[] => {
  const found = splitTest(values, random, FIRST_DRAWS);
  if (!found || found.p > FIRST_LEVEL) return [];
  return [
    ...splitsOf(values.subarray(0, found.at), random, offset),
    offset + found.at,
    ...splitsOf(values.subarray(found.at), random, offset + found.at),
  ];
};

/** Every place that a window of some scale splits at, and how many windows were asked. */
const candidatesOf = (values: Float64Array, random: Random): { places: number[]; windows: number } => {
  const places = new Set<number>();
  let windows = 0;
  for (let size = 1; ; size *= COARSER) {
    const blocks = blockMeans(values, size);
    if (blocks.length < (size === 1 ? 2 * SHORTEST : WINDOW / 2)) break;
    for (let from = 0; ; from += WINDOW / 2) {
      windows++;
      for (const at of splitsOf(blocks.subarray(from, from + WINDOW), random)) places.add((from + at) * size);
      if (from + WINDOW >= blocks.length) break;
    }
    if (blocks.length <= WINDOW) break;
  }
  return { places: [...places].toSorted((a, b) => a - b), windows };
};

/** The test of a place against the stretches on both sides, in at most a window of blocks. */
const standing = (values: Float64Array, from: number, at: number, to: number, random: Random): number => {
  const half = WINDOW / 2;
  const size = Math.max(1, Math.floor(Math.min(at - from, to - at) / half));
  const stretch = values.subarray(Math.max(from, at - half * size), Math.min(to, at + half * size));
  return splitTest(blockMeans(stretch, size), random)?.p ?? 1;
};

/** Where exactly: the best split of the points near it, between its neighbours. */
const exactPlace = (values: Float64Array, from: number, at: number, to: number): number => {
  const start = Math.max(from, at - NEAR);
  const split = bestSplit(values.subarray(start, Math.min(to, at + NEAR)));
  return split ? start + split.at : at;
};

/**
 * Change points of values in order (log-ratios, oldest first). `level` is the chance of any change being found in a history
 * without one. Fewer than 6 values have none.
 */
export const changePoints = (values: readonly number[], { level = 0.05, seed = 1 } = {}): Change[] => {
  const all = Float64Array.from(values);
  const random = generator(seed);
  const { places, windows } = candidatesOf(all, random);
  const wanted = level / windows;
  const bounds = (at: number): [number, number] => [places[at - 1] ?? 0, places[at + 1] ?? all.length];
  const p = places.map((place, at) => standing(all, bounds(at)[0], place, bounds(at)[1], random));
  // The weakest goes first, as those beside it may only now have room to stand.
  while (places.length > 0) {
    const weakest = p.reduce((worst, one, at) => (one > p[worst]! ? at : worst), 0);
    if (p[weakest]! <= wanted) break;
    places.splice(weakest, 1);
    p.splice(weakest, 1);
    for (const at of [weakest - 1, weakest])
      if (at >= 0 && at < places.length)
        p[at] = standing(all, bounds(at)[0], places[at]!, bounds(at)[1], random);
  }
  for (const at of places.keys()) places[at] = exactPlace(all, bounds(at)[0], places[at]!, bounds(at)[1]);
  return places.map((at, index) => {
    const [from, to] = bounds(index);
    const [before, after] = [all.subarray(from, at), all.subarray(at, to)].map((one) =>
      median(Array.from(one)),
    );
    return { at, p: p[index]!, before: before!, after: after! };
  });
};

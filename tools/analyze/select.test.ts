import { expect, test } from 'bun:test';
import { quantileOfSorted } from '../../shared/statistics.ts';
import { medianOfFirst, type Numbers, quantilesOf } from './select.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

/** Lists of every kind that selection could stumble over. */
const lists = function* (): Generator<number[]> {
  const next = random(11);
  for (let run = 0; run < 300; run++) {
    const n = 1 + Math.floor(next() * (run % 10 === 0 ? 3000 : 200));
    const kinds = 1 + Math.floor(next() * n);
    yield Array.from({ length: n }, () => Math.floor(next() * kinds) / 4 - 2);
  }
  for (const n of [1, 2, 48, 49, 64, 65, 1000, 70_000]) {
    yield Array.from({ length: n }, (_, at) => at);
    yield Array.from({ length: n }, (_, at) => n - at);
    yield Array.from({ length: n }, () => 7);
    yield Array.from({ length: n }, (_, at) => Math.min(at, n - at));
    // One far from all others, who then share a bucket, and again within it.
    yield Array.from({ length: n }, (_, at) => (at === 0 ? 1e18 : at === 1 ? 1e9 : next()));
    yield Array.from({ length: n }, () => 10 ** (30 * next() - 15));
    // Neighbours among the doubles, and numbers so near to 0 that arithmetic ends.
    yield Array.from({ length: n }, () => 1 + Number.EPSILON * Math.floor(4 * next()));
    yield Array.from({ length: n }, () => Number.MIN_VALUE * Math.floor(1000 * next()));
    yield Array.from({ length: n }, () => (next() < 0.5 ? -1 : 1) * Number.MAX_VALUE * next());
  }
};

/** A list in parts, each longer than what counts of it. */
const inParts = (list: readonly number[], next: () => number): Numbers => {
  const parts: [Float64Array, number][] = [];
  for (let at = 0; at < list.length;) {
    const n = Math.floor(next() * 100);
    const part = list.slice(at, at + n);
    parts.push([Float64Array.from([...part, -1e9, 1e9]), part.length]);
    at += n;
  }
  return { length: list.length, eachPart: (take) => parts.forEach(([part, n]) => take(part, n)) };
};

test('quantiles are those of the sorted list, however it is parted', () => {
  const next = random(5);
  for (const list of lists()) {
    const ascending = list.toSorted((a, b) => a - b);
    const ps = [0, 0.5, next(), 0.95, 1].toSorted((a, b) => a - b);
    const wanted = ps.map((p) => quantileOfSorted(ascending, p));
    expect(quantilesOf(inParts(list, next), ps)).toEqual(wanted);
  }
});

test('a median is that of the sorted list, and what stands behind it takes no part', () => {
  for (const list of lists()) {
    const place = Float64Array.from([...list, -1e9, 1e9]);
    const ascending = list.toSorted((a, b) => a - b);
    expect(medianOfFirst(place, list.length)).toBe(quantileOfSorted(ascending, 0.5));
    expect([...place.subarray(0, list.length)].toSorted((a, b) => a - b)).toEqual(ascending);
    expect([...place.subarray(list.length)]).toEqual([-1e9, 1e9]);
  }
});

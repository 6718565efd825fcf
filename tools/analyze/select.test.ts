import { expect, test } from 'bun:test';
import { quantileOfSorted } from '../../shared/statistics.ts';
import { medianOfFirst, select, selectQuantiles } from './select.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

/** Lists of every kind that selection could stumble over. */
const lists = function* (): Generator<number[]> {
  const next = random(11);
  for (let run = 0; run < 300; run++) {
    const n = 1 + Math.floor(next() * (run % 10 === 0 ? 3000 : 60));
    const kinds = 1 + Math.floor(next() * n);
    yield Array.from({ length: n }, () => Math.floor(next() * kinds) / 4 - 2);
  }
  for (const n of [1, 2, 17, 18, 100, 1000]) {
    yield Array.from({ length: n }, (_, at) => at);
    yield Array.from({ length: n }, (_, at) => n - at);
    yield Array.from({ length: n }, () => 7);
    yield Array.from({ length: n }, (_, at) => Math.min(at, n - at));
  }
};

test('quantiles are those of the sorted list, and nothing is lost', () => {
  const next = random(5);
  for (const list of lists()) {
    const ascending = list.toSorted((a, b) => a - b);
    const ps = [0, 0.5, next(), 0.95, 1].toSorted((a, b) => a - b);
    // More room than numbers: what stands behind them takes no part.
    const place = Float64Array.from([...list, -1e9, 1e9]);
    expect(selectQuantiles(place, list.length, ps)).toEqual(ps.map((p) => quantileOfSorted(ascending, p)));
    expect([...place.subarray(0, list.length)].toSorted((a, b) => a - b)).toEqual(ascending);
    expect([...place.subarray(list.length)]).toEqual([-1e9, 1e9]);
    expect(medianOfFirst(Float64Array.from(list), list.length)).toBe(quantileOfSorted(ascending, 0.5));
  }
});

test('one rank parts a range and leaves the rest alone', () => {
  for (const list of lists()) {
    if (list.length < 4) continue;
    const [from, to] = [1, list.length - 1];
    const k = (from + to) >> 1;
    const place = Float64Array.from(list);
    select(place, from, to, k);
    const sorted = list.slice(from, to).toSorted((a, b) => a - b);
    expect(place[k]).toBe(sorted[k - from]!);
    expect(Math.max(...place.subarray(from, k + 1))).toBe(place[k]!);
    expect(Math.min(...place.subarray(k, to))).toBe(place[k]!);
    expect([place[0], place.at(-1)]).toEqual([list[0], list.at(-1)]);
  }
});

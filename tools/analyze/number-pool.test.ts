import { describe, expect, test } from 'bun:test';
import { median, quantile } from '../../shared/statistics.ts';
import { Column, medianFrom, NumberPool, TurnPool } from './number-pool.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
/** Numbers as logs hold them: few decimals, many, whole, huge, tiny, negative; enough of them to fill chunks. */
const kinds: [string, (next: () => number) => number][] = [
  ['with four decimals', (next) => Number((next() * 20).toFixed(4))],
  ['near to each other', (next) => Number((5 + next()).toFixed(4))],
  ['far apart', (next) => Number((next() * (next() < 0.001 ? 2e5 : 2)).toFixed(4))],
  ['with six decimals', (next) => Number((next() * 20 - 10).toFixed(6))],
  ['with all their digits', (next) => next() * 20],
  ['whole and large', (next) => Math.floor(next() * 1e12)],
  ['tiny', (next) => next() * 1e-9],
  ['of both kinds', (next) => (next() < 0.00002 ? Math.PI : Number(next().toFixed(3)))],
];

describe.each(kinds)('numbers %s', (_, make) => {
  const next = random(3);
  const values = Array.from({ length: 250_000 }, () => make(next));

  test('come back exactly, in order, however they went in', () => {
    const [one, many] = [new NumberPool(), new NumberPool()];
    for (const value of values) one.push(value);
    for (let at = 0; at < values.length;) {
      const size = 1 + Math.floor(next() * 5000);
      many.pushFrom([-1, ...values.slice(at, at + size)], 1);
      at += size;
    }
    expect(one.length).toBe(values.length);
    expect(Buffer.from(one.toArray().buffer).equals(Buffer.from(Float64Array.from(values).buffer))).toBe(
      true,
    );
    expect(Buffer.from(many.toArray().buffer).equals(Buffer.from(Float64Array.from(values).buffer))).toBe(
      true,
    );
  });

  test('are summed up, once and again', () => {
    const [pool, column] = [new TurnPool(), new Column()];
    pool.pushFrom(values, 0);
    for (const value of values) column.push(value);
    const expected = {
      n: values.length,
      p50: median(values),
      p95: quantile(values, 0.95),
      max: quantile(values, 1),
    };
    expect(pool.summary).toEqual(expected);
    expect(pool.summary).toEqual(expected);
    expect(column.summary).toEqual(expected);
    expect(column.values()).toEqual(values);
  });

  test('may be looked at in between', () => {
    const column = new Column();
    for (const [at, value] of values.entries()) {
      column.push(value);
      if (at % 20_011 === 0)
        expect(column.summary!.max).toBe(values.slice(0, at + 1).reduce((a, b) => Math.max(a, b)));
    }
    expect(column.values()).toEqual(values);
  });
});

test('nothing has no summary', () => {
  expect(new TurnPool().summary).toBeUndefined();
  expect(new Column().summary).toBeUndefined();
  expect(new Column().values()).toBeUndefined();
});

test.each([[null], [undefined]])('a column with a gap (%p) has no values', (gap) => {
  const column = new Column();
  column.push(1);
  column.push(gap);
  column.push(2);
  expect(column.values()).toBeUndefined();
  expect(column.summary).toBeUndefined();
});

test('a median from an index on leaves the list as it is', () => {
  const next = random(9);
  for (let run = 0; run < 300; run++) {
    const values = Array.from({ length: Math.floor(next() * 90) }, () => Math.floor(next() * 20) / 4);
    const kept = [...values];
    for (const from of [0, 1]) {
      const rest = values.slice(from);
      expect(medianFrom(values, from)).toBe(rest.length === 0 ? undefined : median(rest));
    }
    expect(values).toEqual(kept);
  }
});

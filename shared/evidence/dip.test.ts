import { expect, test } from 'bun:test';
import { dip, dipP } from './dip.ts';
import { generator } from './random.ts';
import { sortedCopy } from '../statistics.ts';

const random = generator(9);
const uniform = (n: number, from = 0): number[] => Array.from({ length: n }, () => from + random());

test.each([
  ['even spacing: the least', [1, 2, 3, 4, 5, 6, 7, 8], 1 / 16],
  ['all equal', [3, 3, 3, 3, 3], 1 / 10],
  ['three values', [1, 2, 9], 1 / 6],
  ['two far heaps: half of one', [0, 0, 0, 0, 9, 9, 9, 9], 1 / 4],
])('%s', (_, values, wanted) => expect(dip(sortedCopy(values))).toBeCloseTo(wanted, 12));

test('between its bounds; a shift, a stretch and a mirror leave it', () => {
  for (let n = 4; n < 60; n++) {
    const values = uniform(n);
    const found = dip(sortedCopy(values));
    expect(found).toBeGreaterThanOrEqual(1 / (2 * n) - 1e-12);
    expect(found).toBeLessThanOrEqual(0.25);
    expect(dip(sortedCopy(values.map((one) => 100 - 3 * one)))).toBeCloseTo(found, 9);
  }
});

const pOf = (values: number[]): number => dipP(dip(sortedCopy(values)), values.length);

test('p: uniform values often have such a dip, two heaps never', () => {
  const small = Array.from({ length: 200 }, () => pOf(uniform(15))).filter((one) => one <= 0.1).length;
  expect(small).toBeGreaterThan(5);
  expect(small).toBeLessThan(40);
  expect(pOf([...uniform(20), ...uniform(20, 5)])).toBe(1 / 2000);
  expect(pOf([...uniform(200), ...uniform(200, 5)])).toBe(1 / 2000);
});

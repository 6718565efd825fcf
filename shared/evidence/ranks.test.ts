import { expect, test } from 'bun:test';
import { generator } from './random.ts';
import { hodgesLehmann, midranks, signedRanks, walshAverage } from './ranks.ts';
import { sortedCopy } from '../statistics.ts';

const random = generator(1);
/** Values with ties now and then. */
const some = (n: number): number[] =>
  Array.from({ length: n }, () => (random() < 0.3 ? Math.round(6 * random()) : 6 * random()) - 3);

const slowWalsh = (values: number[]): number[] =>
  values.flatMap((a, at) => values.slice(at).map((b) => (a + b) / 2)).toSorted((a, b) => a - b);

test('midranks are one more than the smaller values, and half the other equal ones', () => {
  for (let at = 0; at < 50; at++) {
    const values = some(1 + at);
    const slow = values.map(
      (one) =>
        values.filter((other) => other < one).length +
        (values.filter((other) => other === one).length + 1) / 2,
    );
    expect(Array.from(midranks(values))).toEqual(slow);
  }
});

test('every Walsh average is found without listing them', () => {
  for (let n = 1; n <= 12; n++) {
    const values = some(n);
    const ascending = sortedCopy(values);
    // Sums of floats depend on the order, so the slow list is made of the sorted values too.
    const slow = slowWalsh(Array.from(ascending));
    expect(slow.map((_, at) => walshAverage(ascending, at + 1))).toEqual(slow);
  }
});

test('Hodges–Lehmann: the median of all pairs; moves with a shift, mirrors with the sign', () => {
  for (let n = 1; n <= 30; n++) {
    const values = some(n);
    const slow = slowWalsh(values);
    const middle = (slow[(slow.length - 1) >> 1]! + slow[slow.length >> 1]!) / 2;
    const estimate = hodgesLehmann(sortedCopy(values));
    expect(estimate).toBeCloseTo(middle, 12);
    expect(hodgesLehmann(sortedCopy(values.map((one) => -one)))).toBeCloseTo(-estimate, 12);
    expect(hodgesLehmann(sortedCopy(values.map((one) => 2 * one + 5)))).toBeCloseTo(2 * estimate + 5, 12);
  }
  expect(() => hodgesLehmann(new Float64Array())).toThrow('nothing');
});

test('signed ranks: a zero has a size and no side, an absent round has neither', () => {
  const { sizes, signed } = signedRanks([3, -1, 0, NaN, 1]);
  expect(Array.from(sizes)).toEqual([4, 2.5, 1, 0, 2.5]);
  expect(Array.from(signed)).toEqual([4, -2.5, 0, 0, 2.5]);
});

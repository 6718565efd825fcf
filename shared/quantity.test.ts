import { describe, expect, test } from 'bun:test';
import { NANO, parseQuantity, unitsOf } from './quantity.ts';

const LARGEST = (2n ** 63n - 1n) * NANO;

describe('quantities', () => {
  test.each<[string, bigint]>([
    ['0', 0n],
    ['-0', 0n],
    ['0e99999999999', 0n],
    ['1', NANO],
    ['+1', NANO],
    ['-1', -NANO],
    ['007', 7n * NANO],
    ['.5', NANO / 2n],
    ['5.', 5n * NANO],
    ['5.G', 5n * 10n ** 18n],
    ['100m', NANO / 10n],
    ['0.1m', 100_000n],
    ['1n', 1n],
    ['1u', 1000n],
    ['1500000n', 1_500_000n],
    ['1k', 1000n * NANO],
    ['1e3', 1000n * NANO],
    ['1E3', 1000n * NANO],
    ['1e+3', 1000n * NANO],
    ['1.2e3', 1200n * NANO],
    ['1e-3', NANO / 1000n],
    ['1E', 10n ** 18n * NANO],
    ['1Ki', 1024n * NANO],
    ['0.5Gi', 2n ** 29n * NANO],
    ['1.3Ki', 1_331_200_000_000n],
    ['1Ei', 2n ** 60n * NANO],
    // finer than nano: away from zero
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1.1n', 2n],
    ['1e-999999999', 1n],
    ['0.00000000000000001Ei', 11_529_215_047n],
    // larger than 2^63−1: cut
    ['9223372036854775807', LARGEST],
    ['9223372036854775808', LARGEST],
    ['8Ei', LARGEST],
    ['1e999999999', LARGEST],
    ['-1e999999999', -LARGEST],
  ])('%s', (text, nano) => expect(parseQuantity(text)).toBe(nano));

  test.each([
    '',
    ' ',
    ' 1',
    '1 ',
    '1 Gi',
    '1\n',
    '9'.repeat(1001),
    ...'. + - 1K 1mi 1e 1e3Ki 1Kii 1KiB 1Gb 0x10 1_000 1,5 Infinity NaN inf 1e3.5 1e3k 1.2.3 --1 +-1 ٣ 1m1'.split(
      ' ',
    ),
  ])('%p is none', (text) => expect(parseQuantity(text)).toBeUndefined());

  /** The obvious twin: shifts the decimal point in the text, then multiplies. */
  const twin = (sign: string, digits: string, places: number, suffix: string): bigint => {
    const steps: Record<string, [number, bigint]> = {
      '': [0, 1n], n: [-9, 1n], u: [-6, 1n], m: [-3, 1n], k: [3, 1n], M: [6, 1n], G: [9, 1n],
      Ki: [0, 1024n], Mi: [0, 1024n ** 2n], Gi: [0, 1024n ** 3n], Ti: [0, 1024n ** 4n],
      'e-4': [-4, 1n], e2: [2, 1n],
    }; // prettier-ignore
    const [shift, factor] = steps[suffix]!;
    const product = BigInt(digits) * factor;
    const denominator = 10n ** BigInt(places + 12);
    const numerator = product * 10n ** BigInt(12 + shift) * NANO;
    let whole = numerator / denominator;
    if (whole * denominator < numerator) whole++;
    if (whole > LARGEST) whole = LARGEST;
    return sign === '-' ? -whole : whole;
  };

  test('agree with a twin', () => {
    let state = 1;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti', 'e-4', 'e2'];
    for (let round = 0; round < 5000; round++) {
      const digits = Array.from({ length: 1 + random(12) }, () => random(10)).join('');
      const places = random(digits.length + 1);
      const sign = ['', '+', '-'][random(3)]!;
      const suffix = suffixes[random(suffixes.length)]!;
      const cut = digits.length - places;
      const text = sign + digits.slice(0, cut) + (places > 0 ? `.${digits.slice(cut)}` : '') + suffix;
      expect([text, parseQuantity(text)]).toEqual([text, twin(sign, digits, places, suffix)]);
    }
  });

  test('are equal however they are written, and add up exactly', () => {
    expect(
      new Set(['0.1', '100m', '1e-1', '.1', '100000u', '100000000n', '+0.100'].map(parseQuantity)).size,
    ).toBe(1);
    const tenth = parseQuantity('100m')!;
    expect(Array.from({ length: 10 }, () => tenth).reduce((sum, one) => sum + one)).toBe(NANO);
  });

  test.each<[string, number]>([
    ['3700m', 3.7],
    ['0.1', 0.1],
    ['-250m', -0.25],
    ['1n', 1e-9],
    ['16Gi', 17179869184],
    ['0', 0],
  ])('%s in units', (text, units) => expect(unitsOf(parseQuantity(text)!)).toBe(units));
});

/**
 * Kubernetes quantities, exactly: whole numbers of nano units (a bigint), so that `100m`, `0.1` and `1e-1` are equal and
 * sums lose nothing. The grammar and its rounding are those of apimachinery's `resource.ParseQuantity`.
 */

/** Nano units in one unit: the finest step that a quantity has. */
export const NANO = 1_000_000_000n;

/** Powers of ten that a decimal suffix stands for. */
const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
/** Powers of 1024 that a binary suffix stands for. */
const BINARY: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };

const FORM = /^([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([KMGTPE]i|[numkMGTPE])?)$/;

/** The largest amount the API holds, 2^63−1; larger ones are cut to it. */
const LARGEST = ((1n << 63n) - 1n) * NANO;
/** Longer texts are not read: digits are work. */
const LONGEST = 1000;
/** Beyond this power of ten every amount but 0 is larger than the largest, or smaller than the smallest. */
const FAR = 10_000;

/** a / b, away from zero when it does not come out even: who asks for a little gets a little. */
const dividedUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/**
 * A quantity in nano units; `undefined` when the text is none. Finer than nano is rounded away from zero, and what is
 * larger than 2^63−1 is cut to it, as the API server does.
 */
export const parseQuantity = (text: string): bigint | undefined => {
  const found = text.length > LONGEST ? null : FORM.exec(text);
  if (!found) return undefined;
  const [, sign, number = '', exponent, suffix = ''] = found;
  const [whole = '', fraction = ''] = number.split('.');
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const binary = BINARY[suffix];
  const power =
    (exponent === undefined ? (DECIMAL[suffix] ?? 0) : Number(exponent.slice(1))) - fraction.length + 9;
  const scaled = binary === undefined ? digits : digits << (10n * binary);
  let amount: bigint;
  if (power >= 0) amount = power > FAR ? LARGEST : scaled * 10n ** BigInt(power);
  else amount = -power > FAR + number.length ? 1n : dividedUp(scaled, 10n ** BigInt(-power));
  if (amount > LARGEST) amount = LARGEST;
  return sign === '-' ? -amount : amount;
};

/** An amount in nano units as the number of units nearest to it. */
export const unitsOf = (nano: bigint): number => {
  const digits = String(nano < 0n ? -nano : nano).padStart(10, '0');
  const units = Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
  return nano < 0n ? -units : units;
};

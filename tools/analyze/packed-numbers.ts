/** Numbers in less space than eight bytes each, as long as every one comes back exactly. */

/** Whole multiples of `1 / scale`: each is `least + low + 65536 * high` of them. */
export interface Packed {
  scale: number;
  least: number;
  most: number;
  low: Uint16Array;
  /** Absent when all lie within 65536 of each other. */
  high?: Uint8Array | Uint16Array;
}

/** Times are mostly written with few decimals. */
const SCALES = [1e4, 1e6];

let wholes = new Int32Array(0);

/** Puts the multiples into `wholes`; the smallest and the largest, or undefined when a number is none. */
const multiples = (
  numbers: Float64Array,
  n: number,
  scale: number,
): { least: number; most: number } | undefined => {
  let least = 0x7fffffff;
  let most = -0x80000000;
  for (let at = 0; at < n; at++) {
    const number = numbers[at]!;
    const whole = (number * scale + (number < 0 ? -0.5 : 0.5)) | 0;
    if (whole / scale !== number) return undefined;
    wholes[at] = whole;
    if (whole < least) least = whole;
    if (whole > most) most = whole;
  }
  return { least, most };
};

// One loop for each kind of array: a loop that meets both takes ten times as long.
const highBytes = (n: number, least: number): Uint8Array => {
  const high = new Uint8Array(n);
  for (let at = 0; at < n; at++) high[at] = (wholes[at]! - least) >>> 16;
  return high;
};

const highWords = (n: number, least: number): Uint16Array => {
  const high = new Uint16Array(n);
  for (let at = 0; at < n; at++) high[at] = (wholes[at]! - least) >>> 16;
  return high;
};

/** The first `n` numbers packed; undefined when they have too many digits. */
export const packed = (numbers: Float64Array, n: number): Packed | undefined => {
  if (wholes.length < n) wholes = new Int32Array(n);
  for (const scale of SCALES) {
    const range = multiples(numbers, n, scale);
    if (!range) continue;
    const { least, most } = range;
    const low = new Uint16Array(n);
    for (let at = 0; at < n; at++) low[at] = wholes[at]! - least;
    if (most - least < 2 ** 16) return { scale, least, most, low };
    const high = most - least < 2 ** 24 ? highBytes(n, least) : highWords(n, least);
    return { scale, least, most, low, high };
  }
  return undefined;
};

/** Writes the whole multiples to `into`. */
export const unpack = ({ least, low, high }: Packed, into: Float64Array): void => {
  const n = low.length;
  if (high) for (let at = 0; at < n; at++) into[at] = least + low[at]! + 65536 * high[at]!;
  else for (let at = 0; at < n; at++) into[at] = least + low[at]!;
};

/**
 * A small seeded generator, so that a Monte Carlo test gives the same answer wherever it is repeated.
 */

/** Uniform numbers in [0, 1). */
export type Random = () => number;

/** C. Doty-Humphrey's sfc32, warmed up from one number; the low bits are as good as the high ones. */
export const generator = (seed: number): Random => {
  let [a, b, c, counter] = [0x9e3779b9, Math.floor(seed / 4294967296) | 0, seed | 0, 1];
  const next = (): number => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + out;
    return (out >>> 0) / 4294967296;
  };
  for (let at = 0; at < 15; at++) next();
  return next;
};

/** Puts the items of a list in a random order, in place (Fisher–Yates). */
export const shuffle = (items: Int32Array | Float64Array, random: Random): void => {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const kept = items[at]!;
    items[at] = items[other]!;
    items[other] = kept;
  }
};

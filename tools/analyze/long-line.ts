/**
 * Long sample lines. Nearly all of one are the times in two lists. Read as JSON these cost four times as much, and leave so
 * much garbage that a log of hundreds of megabytes takes as much memory again.
 */

/** The lists: their key, and how they begin. */
const LISTS = ['turn', 'turnCpu'].map((key) => ({
  key,
  name: `"${key}"`,
  start: Buffer.from(`,"${key}":[`),
  numbers: new Float64Array(0),
}));

const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;

/** Powers of ten, all exact: a whole number of up to 15 digits divided by one is rounded once, as JSON.parse rounds. */
const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`));
const MOST_DIGITS = 15;

/** Where the last list that was read ended, and how many numbers it had. */
const found = { end: 0, length: 0 };

/**
 * Reads plain decimals, the first one at `from`, up to and with the closing bracket. False for anything else: signs,
 * exponents, blanks, more digits than a double holds, no number at all.
 */
const readDecimals = (bytes: Uint8Array, from: number, into: Float64Array): boolean => {
  let length = 0;
  for (let at = from; ;) {
    const start = at;
    let whole = 0;
    let next = bytes[at]! - ZERO;
    for (; next >= 0 && next <= 9; next = bytes[++at]! - ZERO) whole = whole * 10 + next;
    let digits = at - start;
    // JSON has no number that begins with another digit's 0.
    if (digits === 0 || (digits > 1 && bytes[start] === ZERO)) return false;
    let decimals = 0;
    if (next === POINT - ZERO) {
      const point = at;
      next = bytes[++at]! - ZERO;
      for (; next >= 0 && next <= 9; next = bytes[++at]! - ZERO) whole = whole * 10 + next;
      decimals = at - point - 1;
      if (decimals === 0) return false;
      digits += decimals;
    }
    if (digits > MOST_DIGITS) return false;
    into[length++] = whole / POWERS[decimals]!;
    at++;
    if (next === COMMA - ZERO) continue;
    found.end = at;
    found.length = length;
    return next === CLOSING_BRACKET - ZERO;
  }
};

/**
 * A line as JSON.parse gives it, but for its lists of times: they are Float64Arrays, which hold until the next line is read.
 * Undefined when it has no list of plain decimals, or when that is not certain; JSON.parse has the say then.
 */
export const readLongLine = (
  block: Buffer,
  from: number,
  to: number,
): Record<string, unknown> | undefined => {
  const line = block.subarray(from, to);
  const cut: typeof LISTS = [];
  let rest = '';
  let done = 0;
  for (const list of LISTS) {
    const start = line.indexOf(list.start, done);
    if (start === -1) continue;
    const first = start + list.start.length;
    if (list.numbers.length < line.length / 2) list.numbers = new Float64Array(line.length);
    if (!readDecimals(line, first, list.numbers)) continue;
    const after = line[found.end];
    // Anything else that follows would be another number than the one that stands in its place.
    if (after !== COMMA && after !== CLOSING_BRACE) continue;
    rest += `${line.toString('utf8', done, first - 1)}0`;
    done = found.end;
    cut.push({ ...list, numbers: list.numbers.subarray(0, found.length) });
  }
  if (cut.length === 0) return undefined;
  rest += line.toString('utf8', done);
  // A key that is there twice, or written in another way, or deeper inside: what was cut may not be what counts.
  if (rest.includes('\\') || cut.some(({ name }) => rest.indexOf(name) !== rest.lastIndexOf(name)))
    return undefined;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(rest);
  } catch {
    return undefined;
  }
  for (const { key, numbers } of cut) {
    if (value[key] !== 0) return undefined;
    value[key] = numbers;
  }
  return value;
};

/** A line with its lists as JSON gives them. */
export const withPlainLists = <T extends object>(line: T): T =>
  Object.values(line).some((one) => one instanceof Float64Array)
    ? (Object.fromEntries(
        Object.entries(line).map(([key, one]) => [key, one instanceof Float64Array ? [...one] : one]),
      ) as T)
    : line;

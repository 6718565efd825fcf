/** Growing stores of numbers, without the copies and the slack of a growing array. */
import { medianOfFirst, selectQuantiles } from './select.ts';

const FIRST_CHUNK = 1024;
const LARGEST_CHUNK = 65536;

/** Whole numbers and the scale they were multiplied by, or numbers as they are. */
type Chunk = { scale: number; numbers: Int32Array | Float64Array };

/**
 * Times are mostly written with few decimals; as whole multiples of 0.0001 or 0.000001 they take half the space. Only
 * when every number comes back exactly.
 */
const packed = (numbers: Float64Array): Chunk => {
  for (const scale of [1e4, 1e6]) {
    const small = new Int32Array(numbers.length);
    let at = 0;
    for (; at < numbers.length; at++) {
      const number = numbers[at]!;
      const whole = Math.round(number * scale) | 0;
      if (whole / scale !== number) break;
      small[at] = whole;
    }
    if (at === numbers.length) return { scale, numbers: small };
  }
  return { scale: 1, numbers };
};

/** Numbers in the order they came. */
export class NumberPool {
  #full: Chunk[] = [];
  #chunk = new Float64Array(0);
  #used = 0;
  #before = 0;

  get length(): number {
    return this.#before + this.#used;
  }

  push(value: number): void {
    if (this.#used === this.#chunk.length) this.#grow();
    this.#chunk[this.#used++] = value;
  }

  /** Appends the values from index `from` on. */
  pushFrom(values: readonly number[], from: number): void {
    for (let at = from; at < values.length;) {
      if (this.#used === this.#chunk.length) this.#grow();
      const [chunk, used] = [this.#chunk, this.#used];
      const fits = Math.min(chunk.length - used, values.length - at);
      for (let each = 0; each < fits; each++) chunk[used + each] = values[at + each]!;
      this.#used += fits;
      at += fits;
    }
  }

  #grow(): void {
    const size = this.#chunk.length;
    if (size > 0) this.#full.push(packed(this.#chunk));
    this.#before += this.#used;
    this.#used = 0;
    // A chunk that was packed left its numbers elsewhere, and can be filled again.
    if (size === LARGEST_CHUNK && this.#full.at(-1)!.scale !== 1) return;
    this.#chunk = new Float64Array(Math.min(LARGEST_CHUNK, Math.max(FIRST_CHUNK, size * 2)));
  }

  /** Copies all numbers to the beginning of an array; with `empty`, the pool gives them away piece by piece. */
  copyTo(target: Float64Array, empty = false): void {
    let at = 0;
    for (const [index, { scale, numbers }] of this.#full.entries()) {
      for (let each = 0; each < numbers.length; each++) target[at++] = numbers[each]! / scale;
      if (empty) this.#full[index] = { scale: 1, numbers: NOTHING };
    }
    target.set(this.#chunk.subarray(0, this.#used), at);
  }

  toArray(): Float64Array {
    const all = new Float64Array(this.length);
    this.copyTo(all);
    return all;
  }
}

const NOTHING = new Float64Array(0);

/** One working copy for all: a large log's turns would otherwise leave one of 100 MB for each target and size. */
let scratch = new Float64Array(64);
const scratchOf = (n: number): Float64Array => {
  if (scratch.length < n) scratch = new Float64Array(n);
  return scratch;
};

/** What is said of a number of turns. */
export interface Pooled {
  n: number;
  p50: number;
  p95: number;
  max: number;
}

const summed = (pool: NumberPool, empty: boolean): Pooled => {
  const n = pool.length;
  const all = scratchOf(n);
  pool.copyTo(all, empty);
  const [p50, p95, max] = selectQuantiles(all, n, [0.5, 0.95, 1]);
  return { n, p50: p50!, p95: p95!, max: max! };
};

/** Turns of many samples. Once it was summed up the turns are gone: a large log's take most of the memory. */
export class TurnPool {
  #numbers: NumberPool | undefined = new NumberPool();
  #summary: Pooled | undefined;

  pushFrom(values: readonly number[], from: number): void {
    this.#numbers?.pushFrom(values, from);
  }

  /** Undefined when there are none. */
  get summary(): Pooled | undefined {
    if (this.#numbers && this.#numbers.length > 0) this.#summary = summed(this.#numbers, true);
    this.#numbers = undefined;
    return this.#summary;
  }
}

/** One value per sample. A metric exists only when every sample has it (spec §6), so from the first gap on nothing is kept. */
export class Column {
  #pool = new NumberPool();
  #complete = true;

  push(value: number | null | undefined): void {
    if (value === null || value === undefined) {
      this.#complete = false;
      this.#pool = new NumberPool();
    } else if (this.#complete) this.#pool.push(value);
  }

  /** The values when every sample had one, and there was a sample. */
  values(): number[] | undefined {
    return this.#complete && this.#pool.length > 0 ? [...this.#pool.toArray()] : undefined;
  }

  /** p50, p95 and max of the values, when every sample had one. */
  get summary(): Pooled | undefined {
    return this.#complete && this.#pool.length > 0 ? summed(this.#pool, false) : undefined;
  }
}

/** Median of a list from index `from` on; undefined when nothing is left. The list stays as it is. */
export const medianFrom = (values: readonly number[], from: number): number | undefined => {
  const n = values.length - from;
  if (n <= 0) return undefined;
  const part = scratchOf(n);
  for (let at = 0; at < n; at++) part[at] = values[from + at]!;
  return medianOfFirst(part, n);
};

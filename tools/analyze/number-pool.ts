/** Growing stores of numbers: 8 bytes each, without the copies and the slack of a growing array. */
import { selectQuantiles } from './select.ts';

const FIRST_CHUNK = 1024;
const LARGEST_CHUNK = 65536;

/** Numbers in the order they came. */
export class NumberPool {
  #full: Float64Array[] = [];
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
    for (let at = from; at < values.length; at++) this.push(values[at]!);
  }

  #grow(): void {
    if (this.#chunk.length > 0) this.#full.push(this.#chunk);
    this.#before += this.#used;
    this.#chunk = new Float64Array(Math.min(LARGEST_CHUNK, Math.max(FIRST_CHUNK, this.#chunk.length * 2)));
    this.#used = 0;
  }

  /** All numbers as one array of their own. */
  toArray(): Float64Array {
    const all = new Float64Array(this.length);
    let at = 0;
    for (const chunk of this.#full) {
      all.set(chunk, at);
      at += chunk.length;
    }
    all.set(this.#chunk.subarray(0, this.#used), at);
    return all;
  }

  /** Quantiles of all numbers, for ascending `ps`; undefined when there are none. */
  quantiles(ps: readonly number[]): number[] | undefined {
    return this.length === 0 ? undefined : selectQuantiles(this.toArray(), ps);
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

  /** Quantiles of the values when every sample had one, for ascending `ps`. */
  quantiles(ps: readonly number[]): number[] | undefined {
    return this.#complete ? this.#pool.quantiles(ps) : undefined;
  }
}

let scratch = new Float64Array(64);

/** Median of a list from index `from` on; undefined when nothing is left. The list stays as it is. */
export const medianFrom = (values: readonly number[], from: number): number | undefined => {
  const n = values.length - from;
  if (n <= 0) return undefined;
  if (scratch.length < n) scratch = new Float64Array(2 * n);
  const part = scratch.subarray(0, n);
  for (let at = 0; at < n; at++) part[at] = values[from + at]!;
  return selectQuantiles(part, [0.5])[0];
};

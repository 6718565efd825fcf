/** Growing stores of numbers, without the copies and the slack of a growing array. */
import { type Packed, packed, unpack } from './packed-numbers.ts';
import { medianOfFirst, type Numbers, quantilesOf } from './select.ts';

const NOTHING = new Float64Array(0);
const FIRST_CHUNK = 64;
const LARGEST_CHUNK = 1 << 14;

/** Where packed numbers are put to be looked at. */
const unpacked = new Float64Array(LARGEST_CHUNK);

/** Numbers in the order they came. */
export class NumberPool {
  #full: (Packed | Float64Array)[] = [];
  #chunk = NOTHING;
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
  pushFrom(values: ArrayLike<number>, from: number): void {
    for (let at = from; at < values.length;) {
      if (this.#used === this.#chunk.length) this.#grow();
      const chunk = this.#chunk;
      const used = this.#used;
      const fits = Math.min(chunk.length - used, values.length - at);
      for (let each = 0; each < fits; each++) chunk[used + each] = values[at + each]!;
      this.#used += fits;
      at += fits;
    }
  }

  #grow(): void {
    const size = this.#chunk.length;
    // The first chunks are doubled, not kept: most pools stay small.
    if (size > 0 && size < LARGEST_CHUNK) {
      const larger = new Float64Array(size * 2);
      larger.set(this.#chunk);
      this.#chunk = larger;
      return;
    }
    if (size === 0) this.#chunk = new Float64Array(FIRST_CHUNK);
    else this.#put();
  }

  /** Puts what is in the chunk to the full ones; packed, it leaves the chunk to be filled again. */
  #put(): void {
    const small = packed(this.#chunk, this.#used);
    this.#full.push(small ?? this.#chunk.subarray(0, this.#used));
    if (!small) this.#chunk = new Float64Array(LARGEST_CHUNK);
    this.#before += this.#used;
    this.#used = 0;
  }

  /** The numbers as they are to be selected from: where all are packed alike, by their whole multiples. */
  get numbers(): Numbers {
    if (this.#used > 0 && this.#full.length > 0) this.#put();
    const first = this.#full[0];
    const scale = first instanceof Float64Array ? undefined : first?.scale;
    const alike = this.#full.every((one) => !(one instanceof Float64Array) && one.scale === scale);
    const eachPart: Numbers['eachPart'] = (take) => this.#eachPart(alike, take);
    if (!alike || scale === undefined) return { length: this.length, eachPart };
    const packs = this.#full as Packed[];
    const bounds = {
      low: Math.min(...packs.map((one) => one.least)),
      high: Math.max(...packs.map((one) => one.most)),
    };
    return { length: this.length, scale, bounds, eachPart };
  }

  #eachPart(wholes: boolean, take: (part: Float64Array, n: number) => void): void {
    for (const one of this.#full) {
      if (one instanceof Float64Array) {
        take(one, one.length);
        continue;
      }
      const n = one.low.length;
      unpack(one, unpacked);
      if (!wholes) for (let at = 0; at < n; at++) unpacked[at] = unpacked[at]! / one.scale;
      take(unpacked, n);
    }
    take(this.#chunk, this.#used);
  }

  toArray(): Float64Array {
    const all = new Float64Array(this.length);
    let at = 0;
    this.#eachPart(false, (part, n) => {
      all.set(n === part.length ? part : part.subarray(0, n), at);
      at += n;
    });
    return all;
  }
}

/** What is said of a number of turns. */
export interface Pooled {
  n: number;
  p50: number;
  p95: number;
  max: number;
}

const summed = (pool: NumberPool): Pooled => {
  const [p50, p95, max] = quantilesOf(pool.numbers, [0.5, 0.95, 1]);
  return { n: pool.length, p50: p50!, p95: p95!, max: max! };
};

/** Turns of many samples. Once it was summed up the turns are gone: a large log's take most of the memory. */
export class TurnPool {
  #numbers: NumberPool | undefined = new NumberPool();
  #summary: Pooled | undefined;

  pushFrom(values: ArrayLike<number>, from: number): void {
    this.#numbers?.pushFrom(values, from);
  }

  /** Undefined when there are none. */
  get summary(): Pooled | undefined {
    if (this.#numbers && this.#numbers.length > 0) this.#summary = summed(this.#numbers);
    this.#numbers = undefined;
    return this.#summary;
  }
}

/** One value per sample. A metric exists only when every sample has it (spec §6), so from the first gap on nothing is kept. */
export class Column {
  #pool: NumberPool | undefined = new NumberPool();
  #summary: Pooled | undefined;

  push(value: number | null | undefined): void {
    if (value === null || value === undefined) this.#pool = undefined;
    else this.#pool?.push(value);
  }

  /** The values when every sample had one, and there was a sample. */
  values(): number[] | undefined {
    if (!this.#pool || this.#pool.length === 0) return undefined;
    const all = this.#pool.toArray();
    const values: number[] = [];
    for (let at = 0; at < all.length; at++) values.push(all[at]!);
    return values;
  }

  /** p50, p95 and max of the values, when every sample had one. */
  get summary(): Pooled | undefined {
    if (!this.#pool || this.#pool.length === 0) return undefined;
    if (this.#summary?.n !== this.#pool.length) this.#summary = summed(this.#pool);
    return this.#summary;
  }
}

/** One working copy for all. */
let scratch = new Float64Array(64);

/** Median of a list from index `from` on; undefined when nothing is left. The list stays as it is. */
export const medianFrom = (values: ArrayLike<number>, from: number): number | undefined => {
  const n = values.length - from;
  if (n <= 0) return undefined;
  if (scratch.length < n) scratch = new Float64Array(2 * n);
  for (let at = 0; at < n; at++) scratch[at] = values[from + at]!;
  return medianOfFirst(scratch, n);
};

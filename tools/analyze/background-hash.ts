/**
 * SHA-256 on a thread of its own: of a large log, hashing it and its rows takes as long as reading the one and writing the
 * other. Bytes are copied into slots of shared memory, so their owner can use them again at once.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Digest } from '../../shared/session-log.ts';
import type { Source } from './sources.ts';

const SLOTS = 12;
const SLOT_BYTES = 512 << 10;
/** What stands beside each slot: which hash it is for, what is to be done, and how many bytes there are, or which copy. */
const HEAD = 3;

const UPDATE = 0;
const COPY = 1;
const DIGEST = 2;
const END = 3;

/** How many slots were filled and emptied, in 32 bits that run over. */
const FILLED = 0;
const EMPTIED = 1;

/** Longest wait for the thread, ms: nothing it is asked takes a thousandth of that. */
const LONGEST_MS = 60_000;

/** The thread, as CommonJS text: a runtime takes that as it is, from a source tree and in a compiled binary. */
const THREAD = `
const { bytes, heads, counts, result } = require('node:worker_threads').workerData;
const { createHash } = require('node:crypto');
const hashes = new Map();
const hashOf = (id) => {
  if (!hashes.has(id)) hashes.set(id, createHash('sha256'));
  return hashes.get(id);
};
for (let at = 0; ; at = (at + 1) | 0) {
  // A wake-up may be late and mean the slot before: the count has the say.
  while (Atomics.load(counts, ${FILLED}) === at) Atomics.wait(counts, ${FILLED}, at);
  const slot = (at >>> 0) % ${SLOTS};
  const [id, what, more] = heads.subarray(slot * ${HEAD});
  if (what === ${UPDATE}) hashOf(id).update(bytes.subarray(slot * ${SLOT_BYTES}, slot * ${SLOT_BYTES} + more));
  else if (what === ${COPY}) hashes.set(more, hashOf(id).copy());
  else if (what === ${DIGEST}) result.set(hashOf(id).digest());
  else break;
  Atomics.store(counts, ${EMPTIED}, (at + 1) | 0);
  Atomics.notify(counts, ${EMPTIED});
}
`;

/** Logs of so many bytes are hashed on a thread: it takes some time to start, and some memory. */
const LARGE = 64 << 20;

/** Where new hashes come from. */
export interface Hashes {
  /** A new one, used as one of `node:crypto`. */
  next(): Digest;
  /** When no hash is used any more. */
  close(): void;
}

const bytesOf = ({ path }: Source): number =>
  path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);

/** Hashes for the logs of a run and what is made of them. */
export const hashesFor = (sources: readonly Source[]): Hashes =>
  sources.reduce((sum, one) => sum + bytesOf(one), 0) >= LARGE
    ? new BackgroundHashes()
    : { next: () => createHash('sha256'), close: () => undefined };

const shared = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes);

/** Hashes that one thread works on. */
export class BackgroundHashes implements Hashes {
  readonly #bytes = new Uint8Array(shared(SLOTS * SLOT_BYTES));
  readonly #heads = new Int32Array(shared(4 * SLOTS * HEAD));
  readonly #counts = new Int32Array(shared(8));
  readonly #result = new Uint8Array(shared(32));
  #filled = 0;
  #hashes = 0;

  constructor() {
    const workerData = {
      bytes: this.#bytes,
      heads: this.#heads,
      counts: this.#counts,
      result: this.#result,
    };
    new Worker(THREAD, { eval: true, workerData }).unref();
  }

  next(): Digest {
    return this.#hash(this.#hashes++);
  }

  #hash(id: number): Digest {
    const hash: Digest = {
      update: (bytes) => {
        for (let at = 0; at < bytes.length; at += SLOT_BYTES) {
          const part = bytes.subarray(at, at + SLOT_BYTES);
          this.#bytes.set(part, this.#free() * SLOT_BYTES);
          this.#hand(id, UPDATE, part.length);
        }
        return hash;
      },
      copy: () => {
        const copy = this.#hashes++;
        this.#hand(id, COPY, copy);
        return this.#hash(copy);
      },
      digest: () => {
        this.#hand(id, DIGEST, 0);
        this.#wait(0);
        return Buffer.from(this.#result).toString('hex');
      },
    };
    return hash;
  }

  /** The next slot, once it is empty. */
  #free(): number {
    this.#wait(SLOTS - 1);
    return (this.#filled >>> 0) % SLOTS;
  }

  #hand(id: number, what: number, more: number): void {
    this.#heads.set([id, what, more], this.#free() * HEAD);
    this.#filled = (this.#filled + 1) | 0;
    Atomics.store(this.#counts, FILLED, this.#filled);
    Atomics.notify(this.#counts, FILLED);
  }

  /** Until no more slots than `left` are full. */
  #wait(left: number): void {
    for (;;) {
      const emptied = Atomics.load(this.#counts, EMPTIED);
      if (((this.#filled - emptied) | 0) <= left) return;
      if (Atomics.wait(this.#counts, EMPTIED, emptied, LONGEST_MS) === 'timed-out')
        throw new Error('the thread that hashes does not answer');
    }
  }

  close(): void {
    this.#hand(0, END, 0);
  }
}

/** Streams of bytes as blocks of whole lines: a large log is read without an object for each of its lines. */
import { isAscii } from 'node:buffer';

export const NEWLINE = Buffer.from('\n');

/** Lines of so many bytes are long. */
export const LONG = 4096;

/** Text is made of so many bytes at once: the more short lines have followed each other, the more. */
const WINDOW = { least: 2 * LONG, most: 16 * LONG } as const;

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Texts of a block's lines. Of plain ASCII, where a byte is a character, many short ones are made at once: one by one they
 * cost half as much again.
 */
export class Texts {
  readonly #block: Buffer;
  readonly #ascii: boolean;
  #text = '';
  #window = WINDOW.least / 2;
  #from = 0;
  #to = 0;

  constructor(block: Buffer) {
    this.#block = block;
    this.#ascii = isAscii(block);
  }

  of(from: number, to: number): string {
    if (!this.#ascii) return this.#block.toString('utf8', from, to);
    if (to - from > LONG) return this.#block.toString('latin1', from, to);
    if (to > this.#to) {
      const follows = from <= this.#to + LONG;
      this.#window = follows ? Math.min(2 * this.#window, WINDOW.most) : WINDOW.least;
      this.#from = from;
      this.#to = from + this.#window;
      this.#text = this.#block.toString('latin1', from, this.#to);
    }
    return this.#text.slice(from - this.#from, to - this.#from);
  }
}

/** The longest line taken, bytes; a longer one is somebody else's. A workload's output is held to 16 MiB. */
const LONGEST_LINE = 64 << 20;

/** What is left of a line that is too long to be a session's: one zero byte, which is foreign. */
const TOO_LONG = Buffer.alloc(1);

/**
 * Cuts a byte stream into blocks of whole lines, each with its newline; only the last block may end without one. A stream
 * without newlines can't fill the memory. A block is good until the next one is asked for.
 */
export async function* blocksOf(
  stream: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<Buffer> {
  let rest: Uint8Array[] = [];
  let held = 0;
  for await (const part of stream) {
    const bytes = asBuffer(part);
    const last = bytes.lastIndexOf(10) + 1;
    if (last > 0) {
      let from = 0;
      if (held > 0) {
        from = bytes.indexOf(10) + 1;
        // Only the line that was begun is put together; the others stay where they are.
        yield Buffer.concat(held > longest ? [TOO_LONG, NEWLINE] : [...rest, bytes.subarray(0, from)]);
        rest = [];
        held = 0;
      }
      if (last > from) yield bytes.subarray(from, last);
    }
    if (last < bytes.length) {
      held += bytes.length - last;
      // The stream may use its buffer again.
      if (held <= longest) rest.push(Uint8Array.prototype.slice.call(bytes, last));
      else rest = [];
    }
  }
  if (held > 0) yield held > longest ? TOO_LONG : Buffer.concat(rest);
}

/** Splits a byte stream into lines (without newline). A last line without newline is yielded too. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const block of blocksOf(stream))
    for (let from = 0; from < block.length;) {
      const at = block.indexOf(10, from);
      const to = at === -1 ? block.length : at;
      yield block.subarray(from, to);
      from = to + 1;
    }
}

import { createHash } from 'node:crypto';
import { asBuffer, LONG, NEWLINE, Texts } from './line-blocks.ts';

/** A line of the session, as parsed; its fields are checked by `schemas/log.ts` where they are used. */
export type SessionLine = { t: string; seq: number } & Record<string, unknown>;

/** What the lines read so far amount to (DESIGN §4.6). */
export interface LogState {
  /** Session lines accepted, `end` left out. */
  lines: number;
  bytes: number;
  /** Lines that are not the session's. */
  foreignLines: number;
  /** The `end` line was read. */
  ended: boolean;
  /** SHA-256 over the accepted lines, each with its newline. */
  sha256: string;
  /** SHA-256 over everything that was read, foreign and repeated lines too: the file's digest. */
  fileSha256: string;
  /** Count and digest agree with `end` and nothing is missing. */
  complete: boolean;
  /** Why it is not complete, one sentence each. */
  problems: string[];
  /** The message of an `error` line without `seq`: the pod's start-up failed before a session began. */
  startupError?: string;
}

/** What is used of a hash of `node:crypto`. */
export interface Digest {
  update(bytes: Uint8Array): Digest;
  copy(): Digest;
  digest(encoding: 'hex'): string;
}

/** Gets each line of the session: where it stands in the block, and its line number in the file, from 1. */
export type EachLine = (line: SessionLine, from: number, to: number, number: number) => void;

/** Reads a long line faster than JSON.parse; undefined when it can't. */
export type ReadLong = (block: Buffer, from: number, to: number) => Record<string, unknown> | undefined;

/** How many gaps, and how many other problems, are named; of more, only gaps are counted. */
const NAMED = 20;

/** How many of the last lines are remembered, to tell a repeated line from an altered one. */
const REMEMBERED = 4096;

/**
 * Reads a session's log line by line: tells the session's lines from somebody else's noise, holds the running digest, and
 * at the end says whether the log is whole. Memory does not grow with the log.
 *
 * `repeats`: a runner that resumes a stream meets lines again and skips them; in a finished log they are a problem.
 */
export class SessionLog {
  readonly #refuseRepeats: boolean;
  readonly #readLong: ReadLong | undefined;
  readonly #hash: Digest;
  /** Of everything read; absent while that is the same as `#hash`. */
  #file: Digest | undefined;
  #digest: string | undefined;
  #next = 0;
  #number = 0;
  #lines = 0;
  #bytes = 0;
  #foreign = 0;
  #gaps = 0;
  #missing: string[] = [];
  #problems: string[] = [];
  #end: { lines: number; sha256: string } | undefined;
  #startupError: string | undefined;
  #recent = new BigUint64Array(REMEMBERED);

  /** `hash`: a SHA-256 that nothing was given yet. */
  constructor(options: { repeats?: 'skip' | 'refuse'; readLong?: ReadLong; hash?: Digest } = {}) {
    this.#refuseRepeats = options.repeats === 'refuse';
    this.#readLong = options.readLong;
    this.#hash = options.hash ?? createHash('sha256');
  }

  /** One line without its newline. Returns the session's line when it is one and is new. */
  feed(raw: Uint8Array): SessionLine | undefined {
    let found: SessionLine | undefined;
    this.feedBlock(Buffer.concat([raw, NEWLINE]), (line) => (found = line));
    return found;
  }

  /** Whole lines, each with its newline (the log's last line may lack it). Calls `each` for the session's new lines. */
  feedBlock(bytes: Uint8Array, each: EachLine): void {
    const block = asBuffer(bytes);
    const texts = new Texts(block);
    // Accepted lines that stand together are hashed together: one call for a block instead of two for a line.
    let unhashed = 0;
    for (let from = 0; from < block.length;) {
      const newline = block.indexOf(10, from);
      const to = newline === -1 ? block.length : newline;
      const next = newline === -1 ? to : to + 1;
      this.#number++;
      const line = block[from] === 0x7b ? this.#parse(texts, block, from, to) : undefined;
      if (line && this.#isNext(line, block, from, to)) {
        if (line.t === 'end') {
          this.#take(block.subarray(unhashed, from));
          this.#close(line, block.subarray(from, next));
          unhashed = next;
        } else {
          this.#lines++;
          this.#bytes += to + 1 - from;
          if (newline === -1) {
            this.#take(block.subarray(unhashed, from));
            this.#file ??= this.#hash.copy();
            this.#file.update(block.subarray(from, to));
            this.#hash.update(block.subarray(from, to)).update(NEWLINE);
            unhashed = next;
          }
        }
        each(line, from, to, this.#number);
      } else {
        if (!line && to > from) this.#foreign++;
        this.#take(block.subarray(unhashed, from));
        this.#drop(block.subarray(from, next));
        unhashed = next;
      }
      from = next;
    }
    this.#take(block.subarray(unhashed));
  }

  /** Bytes of the session. */
  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#hash.update(bytes);
    this.#file?.update(bytes);
  }

  /** Bytes that are in the file and not the session's. */
  #drop(bytes: Uint8Array): void {
    this.#file ??= this.#hash.copy();
    this.#file.update(bytes);
  }

  #close(line: SessionLine, bytes: Uint8Array): void {
    this.#end = { lines: Number(line['lines']), sha256: String(line['sha256']) };
    this.#drop(bytes);
    this.#digest = this.#hash.digest('hex');
  }

  #parse(texts: Texts, block: Buffer, from: number, to: number): SessionLine | undefined {
    let value = to - from > LONG ? this.#readLong?.(block, from, to) : undefined;
    try {
      value ??= JSON.parse(texts.of(from, to)) as Record<string, unknown>;
    } catch {
      return undefined;
    }
    if (typeof value['t'] !== 'string') return undefined;
    const seq = value['seq'];
    if (Number.isSafeInteger(seq) && (seq as number) >= 0) return value as SessionLine;
    if (value['t'] === 'error' && typeof value['message'] === 'string') this.#startupError = value['message'];
    return undefined;
  }

  /** Whether a line of the session goes on from what was read; what doesn't is noted or known. */
  #isNext(line: SessionLine, block: Buffer, from: number, to: number): boolean {
    if (this.#end) {
      if (this.#refuseRepeats || line.t !== 'end' || line.seq !== this.#end.lines)
        this.#problem(`a line with seq ${line.seq} stands after the end line`);
      return false;
    }
    if (line.seq < this.#next) {
      this.#repeated(line.seq, block.subarray(from, to));
      return false;
    }
    if (line.seq > this.#next) this.#gap(this.#next, line.seq - 1);
    this.#next = line.seq + 1;
    if (!this.#refuseRepeats) this.#recent[line.seq % REMEMBERED] = Bun.hash.wyhash(block.subarray(from, to));
    return true;
  }

  #repeated(seq: number, raw: Uint8Array): void {
    if (this.#refuseRepeats || seq < this.#next - REMEMBERED) this.#problem(`seq ${seq} stands twice`);
    else if (this.#recent[seq % REMEMBERED] !== Bun.hash.wyhash(raw))
      this.#problem(`seq ${seq} stands twice with different text`);
  }

  #gap(from: number, to: number): void {
    this.#gaps++;
    if (this.#missing.length < NAMED) this.#missing.push(from === to ? `${from}` : `${from}–${to}`);
  }

  #problem(sentence: string): void {
    if (this.#problems.length < NAMED) this.#problems.push(sentence);
  }

  /** Where it stands now; `complete` once the end line agrees with everything before it. */
  state(): LogState {
    const problems = [...this.#problems];
    if (this.#gaps > 0)
      problems.push(
        `lines are missing: seq ${this.#missing.join(', ')}` +
          (this.#gaps > NAMED ? `, and ${this.#gaps - NAMED} more gaps` : ''),
      );
    if (!this.#end)
      problems.push(
        this.#next === 0
          ? 'no line of a session in it'
          : `it ends after seq ${this.#next - 1}, without its end line`,
      );
    else if (this.#gaps === 0 && this.#end.lines !== this.#lines)
      problems.push(`the end line counts ${this.#end.lines} lines, found ${this.#lines}`);
    else if (this.#gaps === 0 && this.#end.sha256 !== this.#digest)
      problems.push('its text was altered: the digest in the end line does not agree');
    const sha256 = this.#digest ?? this.#hash.copy().digest('hex');
    return {
      lines: this.#lines,
      bytes: this.#bytes,
      foreignLines: this.#foreign,
      ended: this.#end !== undefined,
      sha256,
      fileSha256: this.#file?.copy().digest('hex') ?? sha256,
      complete: problems.length === 0,
      problems,
      ...(this.#startupError === undefined ? {} : { startupError: this.#startupError }),
    };
  }
}

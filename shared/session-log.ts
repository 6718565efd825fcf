import { createHash, type Hash } from 'node:crypto';

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
  /** Count and digest agree with `end` and nothing is missing. */
  complete: boolean;
  /** Why it is not complete, one sentence each. */
  problems: string[];
  /** The message of an `error` line without `seq`: the pod's start-up failed before a session began. */
  startupError?: string;
}

/** Sequence numbers as ranges: `3, 7–9`; long lists are cut. */
const ranges = (missing: readonly [number, number][]): string => {
  const shown = missing.slice(0, 20).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return shown.join(', ') + (missing.length > 20 ? `, and ${missing.length - 20} more gaps` : '');
};

const NEWLINE = Buffer.from('\n');

/**
 * Reads a session's log line by line: tells the session's lines from somebody else's noise, holds the running digest, and
 * at the end says whether the log is whole. Memory does not grow with the log.
 */
export class SessionLog {
  #hash: Hash = createHash('sha256');
  #digest: string | undefined;
  #next = 0;
  #lines = 0;
  #bytes = 0;
  #foreign = 0;
  #missing: [number, number][] = [];
  #problems: string[] = [];
  #end: { lines: number; sha256: string } | undefined;
  #startupError: string | undefined;
  /** Digests of the last lines, to tell a repeated line (after a resumed stream) from an altered one. */
  #recent = new Map<number, string>();

  /** One line without its newline. Returns the session's line when it is one and is new. */
  feed(raw: Uint8Array): SessionLine | undefined {
    const line = this.#parse(raw);
    if (!line) {
      if (raw.length > 0) this.#foreign++;
      return undefined;
    }
    if (this.#end) {
      if (!(line.t === 'end' && line.seq === this.#end.lines))
        this.#problem(`a line with seq ${line.seq} stands after the end line`);
      return undefined;
    }
    if (line.seq < this.#next) return this.#repeated(line, raw);
    if (line.seq > this.#next) this.#missing.push([this.#next, line.seq - 1]);
    this.#next = line.seq + 1;
    if (line.t === 'end') {
      this.#end = { lines: Number(line['lines']), sha256: String(line['sha256']) };
      this.#digest = this.#hash.digest('hex');
      return line;
    }
    this.#hash.update(raw).update(NEWLINE);
    this.#bytes += raw.length + 1;
    this.#lines++;
    this.#recent.set(line.seq, createHash('sha256').update(raw).digest('hex'));
    this.#recent.delete(line.seq - 64);
    return line;
  }

  #parse(raw: Uint8Array): SessionLine | undefined {
    if (raw[0] !== 0x7b) return undefined;
    try {
      const value = JSON.parse(
        Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8'),
      ) as Record<string, unknown>;
      if (typeof value['t'] !== 'string') return undefined;
      const seq = value['seq'];
      if (Number.isSafeInteger(seq) && (seq as number) >= 0) return value as SessionLine;
      if (value['t'] === 'error' && typeof value['message'] === 'string')
        this.#startupError = value['message'];
      return undefined;
    } catch {
      return undefined;
    }
  }

  #repeated(line: SessionLine, raw: Uint8Array): undefined {
    const before = this.#recent.get(line.seq);
    if (before !== createHash('sha256').update(raw).digest('hex'))
      this.#problem(`seq ${line.seq} stands twice${before === undefined ? '' : ' with different text'}`);
    return undefined;
  }

  #problem(sentence: string): void {
    if (this.#problems.length < 20) this.#problems.push(sentence);
  }

  /** Where it stands now; `complete` once the end line agrees with everything before it. */
  state(): LogState {
    const problems = [...this.#problems];
    if (this.#missing.length > 0) problems.push(`lines are missing: seq ${ranges(this.#missing)}`);
    if (!this.#end)
      problems.push(
        this.#next === 0
          ? 'no line of a session in it'
          : `it ends after seq ${this.#next - 1}, without its end line`,
      );
    else if (this.#missing.length === 0 && this.#end.lines !== this.#lines)
      problems.push(`the end line counts ${this.#end.lines} lines, found ${this.#lines}`);
    else if (this.#missing.length === 0 && this.#end.sha256 !== this.#digest)
      problems.push('its text was altered: the digest in the end line does not agree');
    return {
      lines: this.#lines,
      bytes: this.#bytes,
      foreignLines: this.#foreign,
      ended: this.#end !== undefined,
      sha256: this.#digest ?? this.#hash.copy().digest('hex'),
      complete: problems.length === 0,
      problems,
      ...(this.#startupError === undefined ? {} : { startupError: this.#startupError }),
    };
  }
}

/** The longest line taken, bytes; a longer one is somebody else's. A workload's output is held to 16 MiB. */
const LONGEST_LINE = 64 << 20;

/** Splits a byte stream into lines (without newline). A last line without newline is yielded too. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  let held = 0;
  for await (const part of stream) {
    let from = 0;
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, from)) {
      const tail = part.subarray(from, at);
      if (held > 0) {
        yield held > LONGEST_LINE ? new Uint8Array(1) : Buffer.concat([...rest, tail]);
        rest = [];
        held = 0;
      } else yield tail;
      from = at + 1;
    }
    if (from < part.length) {
      held += part.length - from;
      // Past the limit only the length is kept, so that a stream without newlines can't fill the memory.
      if (held <= LONGEST_LINE) rest.push(part.slice(from));
      else rest = [];
    }
  }
  if (held > 0) yield held > LONGEST_LINE ? new Uint8Array(1) : Buffer.concat(rest);
}

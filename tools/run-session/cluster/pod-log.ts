/**
 * pod.log.partial while the log arrives from a cluster: every line once, in order, whatever is sent again after a broken
 * connection or read again by another runner (DESIGN §4.6). Lines beyond a gap wait in pod.log.rest, in the order in which they
 * came: they come again with those before them when the pod has a copy, and are all that is left of them when it has none.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { writeAll } from '../../../shared/files.ts';
import type { RunDirectory } from '../../../shared/rundir.ts';
import { type LogState, SessionLog, type SessionLine } from '../../../shared/session-log.ts';
import { LOG, PARTIAL, REST } from '../log-file.ts';

const SYNC_EVERY_MS = 15_000;
const NEWLINE = Buffer.from('\n');
/** How `pod` begins each line. */
const HEAD = /^\{"t":"(\w+)","seq":(\d{1,15})[,}]/;
const HEAD_BYTES = 60;
/** Gaps that are told one by one. */
const NAMED = 10;
/** Foreign lines remembered for the message of a session that ended without a word. */
const TAIL = 5;

export class PodLog {
  readonly #run: RunDirectory;
  readonly #fd: number;
  readonly #take: (line: SessionLine) => void;
  #log = new SessionLog();
  #next = 0;
  #catchingUp = false;
  /** Its end line was taken. */
  #closed = false;
  /** Its file is closed: the descriptor's number may be another file's by now. */
  #shut = false;
  #synced = performance.now();
  /** The session's `error` line. */
  error: SessionLine | undefined;
  /** The file of the lines beyond a gap, and which those are. */
  #rest: number | undefined;
  readonly #beyond = new Set<number>();
  #lastBeyond = -1;
  /** An `end` line was seen, perhaps beyond a gap. */
  ended = false;
  /** Something arrived on the stream that is read now, which began at `since`, ms of the monotonic clock. */
  heard = false;
  since = Infinity;
  /** The last lines that are not the session's. */
  tail: string[] = [];

  /** Goes on with what an earlier runner left; `take` gets each line of the session once. */
  constructor(run: RunDirectory, take: (line: SessionLine) => void) {
    this.#run = run;
    this.#take = take;
    const path = run.file(PARTIAL);
    const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    this.#fd = openSync(path, 'a', 0o666);
    // A line that was being written when its runner was killed comes again.
    const whole = before.lastIndexOf(10) + 1;
    if (whole < before.length) ftruncateSync(this.#fd, whole);
    for (const line of lines(before.subarray(0, whole))) this.#feed(line);
    this.#reopenRest();
  }

  /** What an earlier runner kept of the lines beyond a gap. */
  #reopenRest(): void {
    const path = this.#run.file(REST);
    if (!existsSync(path)) return;
    const before = readFileSync(path);
    const whole = before.lastIndexOf(10) + 1;
    this.#rest = openSync(path, 'a', 0o666);
    if (whole < before.length) ftruncateSync(this.#rest, whole);
    for (const line of lines(before.subarray(0, whole))) {
      const [, t, seq] = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
      if (t !== undefined) this.#isBeyond(t, Number(seq));
    }
  }

  /** Lines taken so far. */
  get next(): number {
    return this.#next;
  }

  /** Bytes of the session's lines taken so far. */
  get bytes(): number {
    return this.#log.state().bytes;
  }

  /** The node's stream begins. */
  begin(): void {
    this.heard = false;
    this.since = performance.now();
    this.restart();
  }

  /** A stream begins at the log's start again: what was read is passed over. */
  restart(): void {
    this.#catchingUp = this.#next > 0;
  }

  /** Lines that no stream showed, up to the last one that one did. */
  get gaps(): { from: number; to: number }[] {
    const gaps: { from: number; to: number }[] = [];
    let from = this.#next;
    for (const seq of [...this.#beyond].toSorted((a, b) => a - b)) {
      if (seq > from) gaps.push({ from, to: seq - 1 });
      from = Math.max(from, seq + 1);
    }
    return gaps;
  }

  /** A block of lines; a last line without its newline is not taken, it comes again. */
  take(block: Uint8Array): void {
    // Of a stream that nobody waits for any more.
    if (this.#shut) return;
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    const kept: Uint8Array[] = [];
    const beyond: Uint8Array[] = [];
    this.heard = true;
    for (const line of lines(bytes.subarray(0, bytes.lastIndexOf(10) + 1)))
      this.#placeOf(line, kept, beyond)?.push(line, NEWLINE);
    if (kept.length > 0) this.#append(this.#fd, PARTIAL, kept);
    if (beyond.length > 0)
      this.#append((this.#rest ??= openSync(this.#run.file(REST), 'a', 0o666)), REST, beyond);
    if (performance.now() - this.#synced < SYNC_EVERY_MS) return;
    this.#sync();
    this.#synced = performance.now();
  }

  #append(fd: number, name: string, parts: Uint8Array[]): void {
    try {
      writeAll(fd, Buffer.concat(parts));
    } catch (error) {
      throw Object.assign(error as Error, { path: this.#run.file(name) });
    }
  }

  #sync(): void {
    fsyncSync(this.#fd);
    if (this.#rest !== undefined) fsyncSync(this.#rest);
  }

  /** Where a line belongs: with those that were taken, with those beyond a gap, or nowhere, as it came before. */
  #placeOf(line: Buffer, kept: Uint8Array[], beyond: Uint8Array[]): Uint8Array[] | undefined {
    const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES));
    if (!head) {
      if (this.#catchingUp) return undefined;
      this.#feed(line);
      return kept;
    }
    const seq = Number(head[2]);
    if (seq < this.#next || this.#closed) return undefined;
    this.#catchingUp = false;
    if (seq === this.#next) return (this.#feed(line), kept);
    return this.#isBeyond(head[1]!, seq) ? beyond : undefined;
  }

  /** Whether a line beyond a gap is new. */
  #isBeyond(t: string, seq: number): boolean {
    if (t === 'end') this.ended = true;
    if (seq < this.#next || this.#beyond.has(seq)) return false;
    this.#beyond.add(seq);
    this.#lastBeyond = Math.max(this.#lastBeyond, seq);
    return true;
  }

  #feed(line: Buffer): void {
    const found = this.#log.feed(line);
    if (!found) {
      if (line.length > 0) this.tail = [...this.tail, line.toString('utf8').slice(0, 500)].slice(-TAIL);
      return;
    }
    this.#next = found.seq + 1;
    if (found.t === 'error') this.error = found;
    if (found.t === 'end') this.ended = this.#closed = true;
    this.#take(found);
  }

  state(): LogState {
    const state = this.#log.state();
    const { gaps } = this;
    if (gaps.length === 0) return state;
    const named = gaps.slice(0, NAMED).map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`));
    const more = gaps.length > NAMED ? `, and ${gaps.length - NAMED} more gaps` : '';
    const end = this.ended ? [] : [`it ends after seq ${this.#lastBeyond}, without its end line`];
    return {
      ...state,
      complete: false,
      problems: [
        `lines are missing: seq ${named.join(', ')}${more}; the node rotated them away before they were read`,
        // The last one tells where the lines end that were taken: not where the log does.
        ...state.problems.slice(0, -1),
        ...end,
      ],
    };
  }

  /** Everything is on the disk; a whole log gets its final name. Of the lines beyond a gap those that came again go. */
  close(): void {
    this.#sync();
    if (this.#rest !== undefined) {
      closeSync(this.#rest);
      if (this.#lastBeyond < this.#next) rmSync(this.#run.file(REST));
    }
    const { size } = fstatSync(this.#fd);
    closeSync(this.#fd);
    this.#shut = true;
    if (size === 0) rmSync(this.#run.file(PARTIAL));
    else if (this.#log.state().complete) renameSync(this.#run.file(PARTIAL), this.#run.file(LOG));
  }
}

function* lines(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(10, from);
    yield bytes.subarray(from, to);
    from = to + 1;
  }
}

/**
 * Tracker files, read from their beginning to their end without keeping them: a history of years is hundreds of
 * megabytes, and a rolling median needs four of its lines. What a line is about stands in its first fields, so most lines
 * are never parsed; those that count are.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import * as v from 'valibot';
import { type HistoryLine, historyLine } from '../../schemas/tracker.ts';
import { failed } from '../../shared/failure.ts';
import { runName } from '../../shared/history-words.ts';
import { openFile } from '../../shared/input-file.ts';
import { problemsOf } from '../../shared/read.ts';

/** One line of a tracker file, by what it is about. */
export interface Entry {
  /** ms since the epoch. */
  at: number;
  rule: string;
  turns: number;
  /** The run's name: the base name of what the line says. */
  run: string;
  /** Where it stands: the file, its line number from 1, its bytes. */
  number: number;
  offset: number;
  length: number;
}

/** What a file holds: its lines in order, and those that can't be used. */
export interface History {
  path: string;
  shown: string;
  entries: Entry[];
  /** One sentence each, naming file and line. */
  broken: string[];
  lines: number;
}

/** Which lines are wanted; the others are counted alone. */
export type Wanted = (about: Pick<Entry, 'rule' | 'turns' | 'run'>) => boolean;

const BLOCK = 4 << 20;
/** A line of so many bytes is none of ours: it is told and left out. A multiple of the block by a power of two. */
const LONGEST_LINE = 16 << 20;
/** What is looked at to tell what a line is about. */
const HEAD = 384;
/** One plain field: a text without escapes, or a number. */
const FIELD =
  /[{,]\s*"([A-Za-z]+)"\s*:\s*(?:"([\u0020-\u0021\u0023-\u005b\u005d-\u007e]*)"|(\d{1,15})(?=[,}\s]))/y;
/** A time that certainly exists; the last days of a month are looked up. */
const INSTANT = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T\d\d:\d\d:\d\d(\.\d+)?Z$/;

type About = Pick<Entry, 'at' | 'rule' | 'turns' | 'run'>;

/** Each rule's text once, however many lines have it. */
const rules = new Map<string, string>();
const interned = (rule: string): string => {
  if (!rules.has(rule)) rules.set(rule, rule);
  return rules.get(rule)!;
};

/** What a line is about, from plain fields at its beginning; undefined when they don't tell. */
const quickly = (block: Buffer, from: number, to: number): About | undefined => {
  const head = block.toString('latin1', from, Math.min(to, from + HEAD));
  let [at, rule, run, turns]: (string | undefined)[] = [];
  FIELD.lastIndex = 0;
  for (let found = FIELD.exec(head); found; found = FIELD.exec(head)) {
    const [, key, written, digits] = found;
    if (key === 'at') at = written;
    else if (key === 'rule') rule = written;
    else if (key === 'turns') turns = digits;
    else if (key === 'run' && written !== undefined) {
      // Cut from the block: a piece of `head` would keep all of it in memory, for each line.
      const end = from + FIELD.lastIndex - 1;
      run = block.toString('latin1', end - written.length, end);
    }
    if (at && rule && run && turns) {
      const time = INSTANT.test(at) ? Date.parse(at) : Number.NaN;
      const size = Number(turns);
      return time >= 0 && size >= 1
        ? { at: time, rule: interned(rule), turns: size, run: runName(run) }
        : undefined;
    }
  }
  return undefined;
};

/** A line as the format wants it, or why not. */
const parsed = (text: string, place: string): HistoryLine | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `${place}: not a whole JSON line`;
  }
  const result = v.safeParse(historyLine, value);
  return result.success ? result.output : problemsOf(historyLine, { value }, place)[0]!;
};

/** Reads a tracker file. A missing file is an empty history when `mayMiss`. */
export const readHistory = (path: string, shown: string, wanted: Wanted, mayMiss = false): History => {
  const history: History = { path, shown, entries: [], broken: [], lines: 0 };
  const take = (block: Buffer, from: number, to: number, offset: number): void => {
    history.lines++;
    const number = history.lines;
    let last = to - 1;
    while (last > from && block[last]! <= 0x20) last--;
    if (last <= from && block[from]! <= 0x20) return;
    const whole = block[from] === 0x7b && block[last] === 0x7d;
    const about = whole ? quickly(block, from, to) : undefined;
    const found = about ?? slowly(block.toString('utf8', from, to), `${shown}:${number}`);
    if (typeof found === 'string') history.broken.push(found);
    else if (wanted(found)) history.entries.push({ ...found, number, offset, length: to - from });
  };
  if (mayMiss && !existsSync(path)) return history;
  const fd = openFile(path, shown);
  try {
    eachLine(fd, take, () => {
      history.lines++;
      history.broken.push(
        `${shown}:${history.lines}: a line of ${LONGEST_LINE >> 20} MiB or more is no tracker line`,
      );
    });
  } finally {
    closeSync(fd);
  }
  if (history.lines > 0 && history.broken.length === history.lines)
    throw failed(`'${shown}' holds no tracker line; is it a tracker file? ${history.broken[0]}`);
  return history;
};

const slowly = (text: string, place: string): About | string => {
  const line = parsed(text, place);
  if (typeof line === 'string') return line;
  return { at: Date.parse(line.at), rule: line.rule, turns: line.turns, run: runName(line.run) };
};

/**
 * Calls `take` for each line, without its newline, with its offset in the file; `tooLong` for one that is: of those nothing
 * is kept.
 */
const eachLine = (
  fd: number,
  take: (block: Buffer, from: number, to: number, offset: number) => void,
  tooLong: () => void,
): void => {
  let buffer = Buffer.allocUnsafe(BLOCK);
  let held = 0;
  let start = 0;
  /** In the midst of a line that is too long; what is held belongs to it. */
  let long = false;
  for (;;) {
    if (held === buffer.length && held < LONGEST_LINE) {
      const larger = Buffer.allocUnsafe(2 * buffer.length);
      buffer.copy(larger, 0, 0, held);
      buffer = larger;
    } else if (held === buffer.length) {
      long = true;
      start += held;
      held = 0;
    }
    const got = readSync(fd, buffer, held, buffer.length - held, null);
    if (got === 0) break;
    const end = held + got;
    let from = 0;
    for (let at = buffer.indexOf(10, held); at !== -1 && at < end; at = buffer.indexOf(10, from)) {
      if (long) tooLong();
      else take(buffer, from, at, start + from);
      long = false;
      from = at + 1;
    }
    buffer.copy(buffer, 0, from, end);
    held = end - from;
    start += from;
  }
  if (long) tooLong();
  else if (held > 0) take(buffer, 0, held, start);
};

/** A line's bytes as the format wants them, or why not. Its head and the whole must tell the same of it. */
export const parsedLine = (bytes: Buffer, history: History, entry: Entry): HistoryLine | string => {
  const place = `${history.shown}:${entry.number}`;
  const line = parsed(bytes.toString('utf8'), place);
  if (typeof line === 'string') return line;
  const same =
    Date.parse(line.at) === entry.at &&
    line.rule === entry.rule &&
    line.turns === entry.turns &&
    runName(line.run) === entry.run;
  return same ? line : `${place}: at, rule, turns or run stands twice`;
};

/** Reads single lines of histories; `close` when done. */
export class LineReader {
  readonly #open = new Map<string, number>();

  bytes({ path }: History, { offset, length }: Entry): Buffer {
    const fd = this.#open.get(path) ?? openSync(path, 'r');
    this.#open.set(path, fd);
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const more = readSync(fd, bytes, got, length - got, offset + got);
      if (more === 0) break;
      got += more;
    }
    return bytes.subarray(0, got);
  }

  close(): void {
    for (const fd of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }
}

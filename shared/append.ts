/** Appending to JSONL files that several processes write: whole lines, under a lock, whatever a crash left behind. */
import { appendFileSync, fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import { failed } from './failure.ts';
import { withLock, writeAll } from './files.ts';

/** What was done about a last line that a crash left without its newline. */
export type Repair =
  /** It was whole; it got its newline. */
  | { kind: 'ended' }
  /** It was torn; its bytes were moved out of the file, into `side`. */
  | { kind: 'torn'; bytes: number; side: string };

const BLOCK = 1 << 16;

const readAt = (fd: number, from: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let got = 0;
  while (got < length) {
    const more = readSync(fd, bytes, got, length - got, from + got);
    if (more === 0) break;
    got += more;
  }
  return bytes.subarray(0, got);
};

/** The bytes after the last newline. */
const tailOf = (fd: number, size: number): Buffer => {
  const parts: Buffer[] = [];
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - BLOCK);
    const part = readAt(fd, from, end - from);
    const newline = part.lastIndexOf(10);
    parts.unshift(part.subarray(newline + 1));
    if (newline !== -1) break;
    end = from;
  }
  return Buffer.concat(parts);
};

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** Makes the file end in a newline. The torn bytes are safe in the side file before they leave this one. */
const repairTail = (fd: number, path: string): Repair | undefined => {
  const { size } = fstatSync(fd);
  const tail = tailOf(fd, size);
  if (tail.length === 0) return undefined;
  if (isObject(tail.toString('utf8'))) {
    writeAll(fd, '\n');
    return { kind: 'ended' };
  }
  // A line of ours begins with a brace however it was torn; anything else is not ours to cut.
  if (tail[0] !== 0x7b)
    throw failed(`can't append to '${path}': its last line is no JSON line; is it a JSONL file?`);
  const side = `${path}.torn`;
  appendFileSync(side, Buffer.concat([tail, Buffer.from('\n')]), { flush: true });
  ftruncateSync(fd, size - tail.length);
  return { kind: 'torn', bytes: tail.length, side };
};

/** Writes lines to the end, or nothing: a full disk must not leave half of them. */
const appendWhole = (fd: number, lines: string, path: string): void => {
  const { size } = fstatSync(fd);
  try {
    writeAll(fd, lines);
    fsyncSync(fd);
  } catch (error) {
    ftruncateSync(fd, size);
    // An error of a descriptor does not say which file it is about.
    throw Object.assign(error as Error, { path });
  }
};

/**
 * Appends what `make` gives (lines, each with its newline; '' for nothing) with one write under the file's lock. `make`
 * runs under the lock, so what it reads of the file is what stands before its lines. A torn last line of an earlier crash
 * is repaired first and never merged into ours.
 */
export const appendUnderLock = (path: string, make: () => string): Repair | undefined =>
  withLock(path, (fd) => {
    if (!fstatSync(fd).isFile()) throw failed(`can't append to '${path}': it is no file`);
    const repair = repairTail(fd, path);
    const lines = make();
    if (lines !== '') appendWhole(fd, lines, path);
    return repair;
  });

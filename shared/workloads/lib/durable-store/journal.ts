/** An append-only file of JSON lines, synced before each append returns; in memory only where each line starts. */
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from './conversation.ts';
import type { OpenStore } from './store.ts';

const NEWLINE = 10;
/** Lines read at once: large enough to make few system calls, small enough to stay in the processor's cache. */
const LINES_PER_READ = 512;

export const openJournal: OpenStore = (directory) => {
  const file = openSync(join(directory, 'store.jsonl'), 'a+');
  const read = (from: number, to: number): Buffer => {
    const bytes = Buffer.allocUnsafe(to - from);
    for (let at = 0; at < bytes.length;) {
      const got = readSync(file, bytes, at, bytes.length - at, from + at);
      if (got === 0) throw new Error('the journal is shorter than it was');
      at += got;
    }
    return bytes;
  };

  let end = fstatSync(file).size;
  const starts: number[] = [];
  const content = read(0, end);
  for (let at = 0; at < end; at = content.indexOf(NEWLINE, at) + 1) starts.push(at);

  return {
    append(messages) {
      const lines = messages.map((one) => Buffer.from(`${JSON.stringify(one)}\n`));
      const batch = Buffer.concat(lines);
      if (writeSync(file, batch) !== batch.length) throw new Error('the journal took only a part of a turn');
      fdatasyncSync(file);
      for (const line of lines) {
        starts.push(end);
        end += line.length;
      }
    },
    *messages() {
      for (let at = 0; at < starts.length; at += LINES_PER_READ) {
        const lines = read(starts[at]!, starts[at + LINES_PER_READ] ?? end).toString('utf8');
        for (const line of lines.split('\n')) if (line !== '') yield JSON.parse(line) as Message;
      }
    },
    close: () => closeSync(file),
  };
};

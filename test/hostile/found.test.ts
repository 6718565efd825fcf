/** Inputs that were once taken for what they are not, or ended in a stack: each is refused now, or read as what it is. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Bed, makeBed } from './bed.ts';
import { complaintsOf } from './oracle.ts';
import { READERS } from './readers.ts';
import { sealedLines } from './sealed-log.ts';

interface Found {
  reader: string;
  why: string;
  exit: number;
  /** Part of what is said. */
  says: string;
  input?: string;
  base64?: string;
  /** A file of the bed, changed: values at paths, or by a pattern. */
  of?: string;
  set?: [path: (string | number)[], value: unknown][];
  replace?: [pattern: string, by: string];
  /** Which of the reader's calls. */
  call?: number;
  /** The example's log with its first line of a kind changed or taken out, sealed again. */
  line?: [t: string, change: Record<string, unknown> | null];
}

const fixtures = resolve(import.meta.dir, '../../fixtures');
const rows = JSON.parse(readFileSync(`${fixtures}/hostile/found.json`, 'utf8')) as Found[];
let bed: Bed;
beforeAll(async () => void (bed = await makeBed('found')));
afterAll(() => bed.remove());

const logWith = ([t, change]: NonNullable<Found['line']>): Buffer => {
  const lines = readFileSync(`${fixtures}/example/pod.log`, 'utf8')
    .split('\n')
    .slice(0, -2)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const at = lines.findIndex((one) => one['t'] === t);
  return sealedLines(change === null ? lines.toSpliced(at, 1) : lines.with(at, { ...lines[at], ...change }));
};

const inputOf = (row: Found): Buffer => {
  if (row.line) return logWith(row.line);
  if (row.base64 !== undefined) return Buffer.from(row.base64, 'base64');
  if (row.input !== undefined) return Buffer.from(row.input);
  const text = bed.content.get(row.of!)!.toString();
  if (row.replace) return Buffer.from(text.replace(new RegExp(row.replace[0]), row.replace[1]));
  const value = JSON.parse(text) as unknown;
  for (const [path, inner] of row.set ?? []) {
    const holder = path.slice(0, -1).reduce((one, part) => (one as Record<string, unknown>)[part], value);
    (holder as Record<string, unknown>)[path.at(-1)!] = inner;
  }
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
};

describe.each([...new Set(rows.map((one) => one.reader))])('%s', (reader) => {
  test.each(rows.filter((one) => one.reader === reader).map((row) => [row.why, row] as const))(
    '%s',
    async (_, row) => {
      const read = READERS[reader]!(bed);
      const input = inputOf(row);
      const result = await read.read(input, row.call);
      expect({
        exit: result.exit,
        complaints: [...complaintsOf(result), ...read.wrong(input, result)],
      }).toEqual({ exit: row.exit, complaints: [] });
      expect(result.stderr).toContain(row.says);
    },
  );
});

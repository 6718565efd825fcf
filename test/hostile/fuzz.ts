#!/usr/bin/env bun
/**
 * One reader, many inputs, in a process of its own: `fuzz.ts READER SEED COUNT [large]`. Says on stdout which input it is at,
 * so that whoever started it can name the one that hangs; violations as JSON lines. An input is met again by its number.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { makeBed } from './bed.ts';
import { complaintsOf, DEADLINE_MS } from './oracle.ts';
import { Random } from './random.ts';
import { READERS } from './readers.ts';

export interface Violation {
  reader: string;
  /** Number of the input within the seed; or what a large one is. */
  input: number | string;
  how: string[];
  complaints: string[];
  exit: number;
  bytes: string;
}

/** Each input has a generator of its own, so that the last one is met without those before it. */
export const inputRandom = (seed: number, number: number): Random =>
  new Random(Math.imul(seed, 0x9e3779b1) + number);

/** What one large input (10 MB, 100,000 levels) may take of time and memory. */
const LARGE_DEADLINE_MS = 20_000;
const LARGE_MIB = 600;

/** The largest resident memory since the last reset. */
const peakMiB = (reset: boolean): number => {
  if (reset) writeFileSync('/proc/self/clear_refs', '5');
  return Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
};

const [name = '', seed = '1', count = '100', large] = process.argv.slice(2);

if (import.meta.main) {
  const bed = await makeBed(`hostile-${name.replaceAll('.', '-')}`);
  const reader = READERS[name]!(bed);
  const exits = new Map<number, number>();
  let inputs = 0;
  const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
  const meet = async (
    input: number | string,
    how: string[],
    bytes: Buffer,
    deadline: number,
  ): Promise<void> => {
    const result = await reader.read(bytes);
    inputs++;
    exits.set(result.exit, (exits.get(result.exit) ?? 0) + 1);
    const complaints = [
      ...complaintsOf(result, deadline),
      // A second reader of a large input would be what takes the memory.
      ...(large === 'large' ? [] : reader.wrong(bytes, result)),
    ];
    if (complaints.length > 0)
      say({
        violation: {
          reader: name,
          input,
          how,
          complaints,
          exit: result.exit,
          bytes: bytes.subarray(0, 4000).toString('latin1'),
        },
      });
  };
  if (large === 'large') {
    let at = 0;
    for (const { bytes, how } of reader.large?.() ?? []) {
      say({ at: at++ });
      Bun.gc(true);
      const before = peakMiB(true);
      await meet(how.join(), how, bytes, LARGE_DEADLINE_MS);
      const taken = peakMiB(false) - before;
      if (taken > LARGE_MIB)
        say({
          violation: {
            reader: name,
            input: how.join(),
            how,
            complaints: [`${Math.round(taken)} MiB for an input of ${bytes.length >> 20} MiB`],
            exit: 0,
            bytes: '',
          },
        });
    }
  } else
    for (let number = 0; number < Number(count); number++) {
      if (number % 50 === 0) say({ at: number });
      const { bytes, how } = reader.make(inputRandom(Number(seed), number));
      await meet(number, how, bytes, DEADLINE_MS);
    }
  bed.remove();
  say({ done: { inputs, exits: Object.fromEntries([...exits].toSorted(([a], [b]) => a - b)) } });
}

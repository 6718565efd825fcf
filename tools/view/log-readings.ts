/** What a session's log says of the machine around each sample. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { cpu as cpuLine, type Cpu } from '../../schemas/log.ts';
import { readText } from '../../shared/read.ts';

/** A log larger than this is left alone, bytes: a page is no place for its samples. */
const LARGEST = 200 << 20;

/** The readings by target, size and round. */
export interface LogReadings {
  at: ReadonlyMap<string, Cpu>;
  /** Whose pressure they hold. */
  pressureOf?: 'cgroup' | 'machine';
}

const PRESSURE_OF = /"t":"pin".*"pressureOf":"(cgroup|machine)"/;

export const placeOf = (target: string, turns: number, round: number): string =>
  `${round} ${turns} ${target}`;

/** The `cpu` lines that stand before samples; those that can't be read are left out, as the analysis vouches for the rest. */
const readingsIn = (log: string): LogReadings => {
  const found = new Map<string, Cpu>();
  for (const line of log.split('\n')) {
    if (!line.includes('"step":"sample"')) continue;
    try {
      const one = v.parse(cpuLine, JSON.parse(line));
      if (one.step === 'sample' && one.sample !== undefined)
        found.set(placeOf(one.target, one.turns, one.sample), one);
    } catch {
      // See above.
    }
  }
  const pressureOf = PRESSURE_OF.exec(log)?.[1] as LogReadings['pressureOf'];
  return { at: found, ...(pressureOf === undefined ? {} : { pressureOf }) };
};

/** The readings of a session's directory; none without a log. */
export const readLogReadings = (directory: string, shown: string): LogReadings => {
  const path = join(directory, 'pod.log');
  if (!existsSync(path) || statSync(path).size > LARGEST) return { at: new Map() };
  return readingsIn(readText(path, join(shown, 'pod.log')));
};

/** kill -9 at a few random moments of each tool, the same ones each time; `main.ts` does it for longer, and at every step. */
import { expect, test } from 'bun:test';
import { CASES, crashLoop } from './crashes.ts';

const KILLS = 3;

test.concurrent.each(Object.keys(CASES))(
  '%s: what a kill leaves is unfinished, and the same command ends as if nothing had been',
  async (name) => expect(await crashLoop(name, KILLS, 1)).toEqual([]),
  120_000,
);

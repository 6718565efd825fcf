import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { logLine } from '../../schemas/log.ts';
import { sessionLines } from '../../test/made-log.ts';
import { fitsQuickly, lineProblems } from './line-check.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
type Line = Record<string, unknown>;
const full: Line = {
  rss: 3,
  retained: 2,
  growthPerTurn: -5.5,
  cpuSeconds: 0,
  own: { kept: [1] },

  mhz: 1,
  mhzMin: 0,
  mhzMax: 2,
};
const lines: Line[] = sessionLines({ rounds: 3 })
  .filter((one) => one['t'] === 'cpu' || one['t'] === 'sample')
  .flatMap((one, seq) => [
    { seq, ...one },
    { seq, ...one, ...full },
    { seq, ...one, t: one['t'] === 'sample' ? 'warmup' : 'cpu' },
  ]);

/** What may stand where something else is wanted. */
const STRANGE: unknown[] = [
  undefined,
  null,
  true,
  '',
  'x',
  {},
  [],
  [1],
  [1, null],
  [1, -1],
  ['1'],
  [[1]],
  { length: 1 },
  0,
  -0,
  -1,
  1,
  1.5,
  1e308,
  Infinity,
  -Infinity,
  NaN,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  '1',
  'sample',
  'seed',
];

const agrees = (line: Line): void => {
  const schema = v.safeParse(logLine, line).success;
  if (fitsQuickly(line) !== schema) throw new Error(`schema says ${schema}: ${Bun.inspect(line)}`);
};

describe('the quick check', () => {
  test('agrees with the schema on one change anywhere', () => {
    let refused = 0;
    for (const line of lines)
      for (const key of [...Object.keys(line), 'fingerprint', 'turnCpu', 'openCpu', 'mhz', 'sample'])
        for (const strange of STRANGE) {
          if (key === 't') continue;
          const changed = { ...line, [key]: strange };
          agrees(changed);
          if (!fitsQuickly(changed)) refused++;
        }
    expect(refused).toBeGreaterThan(1000);
  });

  test('agrees with the schema without any one key', () => {
    for (const line of lines)
      for (const key of Object.keys(line)) {
        const { [key]: _, ...rest } = line;
        if (key !== 't') agrees(rest);
      }
  });

  test('agrees with the schema on changes at random, inside lists too', () => {
    const next = random(17);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
    for (let run = 0; run < 20_000; run++) {
      const line = structuredClone(pick(lines));
      for (let changes = Math.floor(next() * 3); changes >= 0; changes--) {
        const key = pick(Object.keys(line));
        const value = line[key];
        if (key === 't') continue;
        if (Array.isArray(value) && value.length > 0 && next() < 0.7)
          value[Math.floor(next() * value.length)] = pick(STRANGE);
        else line[key] = pick(STRANGE);
      }
      agrees(line);
    }
  });

  test('takes every whole line, and says nothing of other kinds', () => {
    for (const line of lines) expect(fitsQuickly(line)).toBe(true);
    for (const t of ['seed', 'done', 'facts', 'more']) expect(fitsQuickly({ ...lines[0], t })).toBe(false);
  });
});

const said = (line: Line): readonly string[] => lineProblems(line, () => 'pod.log:7');

test('what is wrong is said by the schema: place, path, wanted, found', () => {
  const sample = lines.find((one) => one['t'] === 'sample')!;
  expect(said({ ...sample, turn: [1, -2] })).toEqual(['pod.log:7: turn.1: expected a number ≥ 0, found -2']);
  // Of a list read from its bytes only what is wrong elsewhere is told.
  expect(said({ ...sample, turn: new Float64Array([1, 2]), open: -3 })).toEqual([
    'pod.log:7: open: expected a number ≥ 0, found -3',
  ]);
  expect(said({ ...sample, turn: new Float64Array([1, 2]) })).toEqual([]);
  expect(said({ t: 'done', seq: 1 })).toEqual([
    'pod.log:7: seeds: missing',
    'pod.log:7: samples: missing',
    'pod.log:7: at: missing',
  ]);
  expect(said({ t: 'stop', seq: 1, reason: 'r', rounds: 3 })).toEqual([]);
  expect(said({ t: 'news', seq: 1 })).not.toEqual([]);
});

import { expect, test } from 'bun:test';
import type { Calibration } from '../schemas/calibration.ts';
import { calibrationFit } from './calibration-fit.ts';

const node = (runs: number, scaling = false) => ({ runs, clock: { scaling } });
/** The parts of a calibration that are looked at. */
const calibration = (
  nodes: Record<string, ReturnType<typeof node>> = { a: node(12), b: node(12) },
): Calibration => ({ profile: 'store', sizes: { 50: { nodes }, 500: { nodes } } }) as unknown as Calibration;

const FITS = { profile: 'store', turns: [50, 500], nodes: ['a'] };

test.each([
  ['fits', calibration(), FITS, []],
  ['fits all its nodes, when none is picked yet', calibration(), { profile: 'store', turns: [50] }, []],
  [
    'another profile',
    calibration(),
    { ...FITS, profile: 'other' },
    ["the calibration is of profile 'store', this run of 'other'"],
  ],
  [
    'a size that it lacks',
    calibration(),
    { ...FITS, turns: [50, 3500] },
    ['the calibration has no size 3500'],
  ],
  ['no node', calibration({}), { ...FITS, turns: [50] }, ['the calibration names no node at 50 turns']],
  [
    'a node that it lacks',
    calibration(),
    { ...FITS, turns: [50], nodes: ['c', 'a'] },
    ["did not measure node 'c' at 50 turns; calibrate it, or compare on 'a', 'b'"],
  ],
  [
    'a name that every object has',
    calibration(),
    { ...FITS, turns: [50], nodes: ['constructor'] },
    ["node 'constructor'"],
  ],
  [
    'too few runs',
    calibration({ a: node(11), b: node(12) }),
    { ...FITS, turns: [50] },
    ["has 11 runs at 50 turns on node 'a', and 12 are needed"],
  ],
  [
    'sizes of plain commands',
    calibration({ a: node(11) }),
    { ...FITS, turns: [50, 5], counted: 'processes' as const },
    ['has 11 runs at 50 processes a sample on node', 'has no size 5; calibrate with --repeat 5'],
  ],
  [
    'runs that are no number',
    calibration({ a: node(Number.NaN) }),
    { ...FITS, turns: [50] },
    ['has NaN runs'],
  ],
  [
    'clocks that move',
    calibration({ a: node(12, true) }),
    { ...FITS, turns: [50] },
    ["measured node 'a' on cores that scale their clock"],
  ],
  [
    'everything at once',
    calibration({ a: node(3, true) }),
    { ...FITS, turns: [50, 70] },
    ['has 3 runs', 'scale their clock', 'has no size 70'],
  ],
])('%s', (_, given, wanted, sentences) => {
  const problems = calibrationFit(given, wanted).flatMap((size) => size.problems);
  expect(problems).toHaveLength(sentences.length);
  for (const [at, sentence] of sentences.entries()) expect(problems[at]).toContain(sentence);
});

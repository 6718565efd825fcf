import { describe, expect, test } from 'bun:test';
import { Likeness } from './likeness.ts';

type Row = [step: 'seed' | 'warmup' | 'sample', target: string, turns: number, fingerprint?: string];
const targets = [
  { name: 'a', role: 'candidate' as const },
  { name: 'b', role: 'reference' as const },
];
const outcome = (rows: Row[], more: object): string => {
  const likeness = new Likeness({
    name: 'x',
    rule: 'x',
    about: '',
    fingerprints: {},
    targets,
    metrics: [],
    ...more,
  });
  try {
    for (const row of rows) likeness.check(row[0], row[1], row[2], row[3]);
    return 'alike';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('targets are told apart as soon as they differ', () => {
  test.each<[string, Row[], object, string]>([
    [
      'the same',
      [
        ['seed', 'a', 5, 'f'],
        ['seed', 'b', 5, 'f'],
        ['sample', 'a', 5, 'g'],
        ['sample', 'b', 5, 'g'],
      ],
      {},
      'alike',
    ],
    [
      'sizes apart',
      [
        ['seed', 'a', 5, 'f'],
        ['seed', 'b', 6, 'g'],
      ],
      {},
      'alike',
    ],
    [
      'a target without fingerprint',
      [
        ['sample', 'a', 5, 'f'],
        ['sample', 'b', 5],
      ],
      {},
      'alike',
    ],
    [
      'another seed',
      [
        ['seed', 'a', 5, 'f'],
        ['seed', 'b', 5, 'g'],
      ],
      {},
      "'b' and 'a' did different work at size 5: they built 'g' and 'f'",
    ],
    [
      'another transcript',
      [
        ['warmup', 'a', 5, 'f'],
        ['sample', 'b', 5, 'g'],
      ],
      {},
      "'b' and 'a' did different work at size 5: they measured 'g' and 'f'",
    ],
    [
      'a seed that is not the pinned one',
      [['seed', 'a', 5, 'f']],
      { fingerprints: { '5': 'p' } },
      "the profile wants 'p'",
    ],
    [
      'a transcript is not held to the pin',
      [['sample', 'a', 5, 'f']],
      { fingerprints: { '5': 'p' } },
      'alike',
    ],
    [
      'another output',
      [
        ['seed', 'a', 2, 'f'],
        ['seed', 'b', 2, 'g'],
      ],
      { repeat: 2 },
      '--no-output-check',
    ],
  ])('%s', (_, rows, more, says) => expect(outcome(rows, more)).toContain(says));
});

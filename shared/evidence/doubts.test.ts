import { describe, expect, test } from 'bun:test';
import { evidenceOf } from './evidence.ts';
import type { EvidenceInput, Metric, Reading, Session } from './input.ts';
import { generator } from './random.ts';

const warm: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };
const cpuWarm: Metric = { key: 'cpuWarm', basis: 'cpu', better: 'lower', primary: false };

/** Where one sample stands, for what a test makes of it. */
interface Place {
  target: string;
  round: number;
  position: number;
  predecessor: string | undefined;
}

interface Made {
  rounds?: number;
  targets?: string[];
  base?: number;
  noise?: number;
  /** Added to the log of a sample's warm time. */
  effect?: (place: Place) => number;
  /** Added to the log of a sample's CPU time, and beyond it to nothing else. */
  cpu?: (place: Place) => number;
  reading?: (place: Place, warm: number) => Partial<Reading>;
}

/** A session with rotating order; quiet unless a test makes it otherwise. */
const session = ({
  rounds = 12,
  targets = ['mine', 'ref'],
  base = 20,
  noise = 0.003,
  ...made
}: Made = {}): Session => {
  const random = generator(11);
  const warmOf = new Map<string, number[]>();
  const cpuOf = new Map<string, number[]>();
  const readings: Reading[] = [];
  let predecessor: string | undefined;
  for (let round = 0; round < rounds; round++)
    for (let position = 0; position < targets.length; position++) {
      const target = targets[(position + round) % targets.length]!;
      const place = { target, round, position, predecessor };
      const wall = base * Math.exp(noise * (random() - 0.5) + (made.effect?.(place) ?? 0));
      warmOf.set(target, [...(warmOf.get(target) ?? []), wall]);
      cpuOf.set(target, [
        ...(cpuOf.get(target) ?? []),
        base * Math.exp(noise * (random() - 0.5) + (made.cpu?.(place) ?? 0)),
      ]);
      readings.push({
        target,
        turns: 1,
        round,
        position,
        ...(predecessor === undefined ? {} : { predecessor }),
        wallMs: 10 * wall,
        ...made.reading?.(place, wall),
      });
      predecessor = target;
    }
  const series = targets.flatMap((target) => [
    { target, turns: 1, metric: 'warm', values: warmOf.get(target)! },
    { target, turns: 1, metric: 'cpuWarm', values: cpuOf.get(target)! },
  ]);
  return { name: 's', series, readings };
};

const names = (made: Made = {}, more: Partial<EvidenceInput> = {}): string[] => {
  const one = session(made);
  const targets = made.targets ?? ['mine', 'ref'];
  return evidenceOf({
    reference: 'ref',
    candidates: targets.filter((name) => name !== 'ref' && name !== 'control'),
    ...(targets.includes('control') ? { control: 'control' } : {}),
    turns: [1],
    metrics: [warm, cpuWarm],
    sessions: [one],
    ...more,
  }).doubts.map((doubt) => doubt.name);
};

test('a quiet session has none', () => {
  expect(names()).toEqual([]);
  expect(names({ targets: ['mine', 'other', 'ref', 'control'], rounds: 16 })).toEqual([]);
});

const wave = ({ target, round }: Place): number => (target === 'mine' ? 0.05 * Math.sin(round / 3) : 0);

describe('each doubt can be made to fire, with no other than it brings along', () => {
  test.each<[string[], Made, Partial<EvidenceInput>]>([
    [
      ['drift'],
      {
        effect: ({ target, round }) => (target === 'mine' ? 0.01 * round : 0),
        cpu: ({ target, round }) => (target === 'mine' ? 0.01 * round : 0),
      },
      {},
    ],
    [['warmup'], { effect: ({ round }) => (round < 3 ? 0.1 : 0) }, {}],
    [['order', 'bimodal'], { effect: ({ position }) => (position === 0 ? 0.05 : 0) }, {}],
    [
      ['order', 'predecessor', 'control'],
      {
        targets: ['mine', 'other', 'ref', 'control'],
        rounds: 24,
        effect: ({ predecessor }) => (predecessor === 'other' ? 0.05 : 0),
      },
      { candidates: ['mine'] },
    ],
    [['throttled'], { reading: ({ round }, wall) => ({ throttledMs: round % 4 === 0 ? wall : 0 }) }, {}],
    [['steal'], { reading: ({ round }, wall) => ({ stealMs: round % 4 === 0 ? wall : 0 }) }, {}],
    [['stalled'], { reading: ({ round }, wall) => ({ stalledMs: round % 4 === 0 ? 2 * wall : 0 }) }, {}],
    [['contended'], { reading: ({ round }, wall) => ({ contendedMs: round % 4 === 0 ? 2 * wall : 0 }) }, {}],
    [['clock'], { noise: 0.05, reading: (_, wall) => ({ mhz: 60_000 / wall }) }, {}],
    [['clock'], { noise: 0.05, reading: (_, wall) => ({ speedMs: wall / 10 }) }, {}],
    [
      ['bimodal'],
      { rounds: 40, noise: 0.02, effect: ({ round }) => ([0, 1, 3, 4, 9].includes(round % 11) ? 0.3 : 0) },
      {},
    ],
    [['short'], { base: 0.4 }, {}],
    [['wall-cpu'], { effect: ({ target }) => (target === 'mine' ? 0.2 : 0) }, {}],
    [
      ['control'],
      { targets: ['mine', 'ref', 'control'], effect: ({ target }) => (target === 'control' ? 0.02 : 0) },
      {},
    ],
    [['attempts'], {}, { history: { refusedAttempts: 2 } }],
    [['reference-changed'], {}, { history: { otherReferences: 1 } }],
  ])('%p %#', (name, made, more) => expect(names(made, more)).toEqual(name));

  test('wandering', () => {
    expect(names({ rounds: 40, effect: wave })).toContain('wandering');
  });
});

describe('none fires for what is no doubt', () => {
  test.each<[string, Made, Partial<EvidenceInput>]>([
    [
      'a large, steady difference by wall and CPU',
      {
        effect: ({ target }) => (target === 'mine' ? 0.5 : 0),
        cpu: ({ target }) => (target === 'mine' ? 0.5 : 0),
      },
      {},
    ],
    ['a machine that drifts under both', { effect: ({ round }) => 0.01 * round }, {}],
    [
      'a drift of half a percent',
      { effect: ({ target, round }) => (target === 'mine' ? 0.0005 * round : 0) },
      {},
    ],
    [
      'one throttled sample of 24',
      { reading: ({ round, position }, wall) => ({ throttledMs: round + position === 0 ? wall : 0 }) },
      {},
    ],
    ['a trifle of steal in every sample', { reading: (_, wall) => ({ stealMs: wall / 10 }) }, {}],
    ['a clock that goes its own way', { reading: ({ round }) => ({ mhz: 3000 + 100 * (round % 5) }) }, {}],
    ['a steady clock', { noise: 0.05, reading: (_, wall) => ({ mhz: 3000 - wall / 100 }) }, {}],
    [
      'a coarse clock’s heaps',
      { rounds: 40, noise: 0, effect: ({ round }) => 0.05 * (round % 2) * (round % 3) },
      {},
    ],
    ['nothing in the history', {}, { history: { refusedAttempts: 0, otherReferences: 0 } }],
    [
      'too few rounds for a course',
      { rounds: 5, effect: ({ target, round }) => (target === 'mine' ? 0.1 * round : 0) },
      {},
    ],
  ])('%s', (_, made, more) => expect(names(made, more)).toEqual([]));
});

test('a drift names what drifts, whatever its unit; a trifle of one and chance of another are none', () => {
  const growth: Metric = { key: 'growth', basis: 'count', better: 'lower', primary: true, signed: true };
  const random = generator(12);
  const chance = Array.from({ length: 24 }, () => 5000 * (random() - 0.5));
  const drifts = (share: number, growing: readonly number[]) => {
    const one = session({
      rounds: 24,
      effect: ({ target, round }) => (target === 'mine' ? share * round : 0),
    });
    const grown = ['mine', 'ref'].map((target) => ({
      target,
      turns: 1,
      metric: 'growth',
      values: target === 'mine' ? growing : growing.map(() => 0),
    }));
    const { doubts } = evidenceOf({
      reference: 'ref',
      candidates: ['mine'],
      turns: [1],
      metrics: [warm, growth],
      sessions: [{ ...one, series: [...one.series, ...grown] }],
    });
    return doubts.filter(({ name }) => name === 'drift').map(({ metric }) => metric);
  };
  expect(drifts(0.01, chance)).toEqual(['warm']);
  expect(drifts(0.0005, chance)).toEqual([]);
  expect(
    drifts(
      0.0005,
      chance.toSorted((a, b) => a - b),
    ),
  ).toEqual(['growth']);
});

test('a doubt is a name, a number beyond its threshold and a sentence', () => {
  const doubts = [
    ...evidenceOf({
      reference: 'ref',
      candidates: ['mine'],
      turns: [1],
      metrics: [warm, cpuWarm],
      sessions: [
        session({
          base: 0.4,
          effect: ({ target, round }) => (target === 'mine' ? 0.02 * round : 0),
          reading: (_, wall) => ({ throttledMs: wall }),
        }),
      ],
    }).doubts,
  ];
  expect(doubts.map((one) => one.name).toSorted()).toEqual(
    expect.arrayContaining(['drift', 'short', 'throttled']),
  );
  for (const { value, threshold, side, sentence } of doubts) {
    expect(Number.isFinite(value) && Number.isFinite(threshold)).toBe(true);
    expect(sentence).not.toEndWith('.');
    expect(sentence.length).toBeGreaterThan(20);
    expect(side === 'above' ? value > threshold : value <= threshold).toBe(true);
  }
});

test('one sample alone is told as one', () => {
  const of = (hit: number): string[] =>
    evidenceOf({
      reference: 'ref',
      candidates: ['mine'],
      turns: [1],
      metrics: [warm],
      sessions: [
        session({
          rounds: 6,
          reading: ({ round, position }, wall) => {
            const lost = position === 0 && round < hit ? wall : 0;
            return { throttledMs: lost, stealMs: lost, contendedMs: 2 * lost };
          },
        }),
      ],
    }).doubts.map((one) => one.sentence);
  expect(of(1)).toEqual([
    '1 of 12 samples was held back by the CPU quota for more than 2 % of its time',
    '1 of 12 samples lost its cores to other machines for more than 2 % of its time',
    '1 of 12 samples ran while tasks of the machine waited for the measured cores, for more than 10 % of its time',
  ]);
  expect(of(2)[0]).toBe('2 of 12 samples were held back by the CPU quota for more than 2 % of their time');
});

test('doubts of one of several sessions carry its name', () => {
  const [calm, wild] = [session(), session({ base: 0.4 })];
  const { doubts } = evidenceOf({
    reference: 'ref',
    candidates: ['mine'],
    turns: [1],
    metrics: [warm],
    sessions: [
      { ...calm, name: 'a' },
      { ...wild, name: 'b' },
    ],
  });
  expect(doubts.map((one) => [one.name, one.session])).toEqual([['short', 'b']]);
});

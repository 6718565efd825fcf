import { describe, expect, test } from 'bun:test';
import type { EvidenceInput, Metric, Session } from './input.ts';
import { wordOf } from './conclusions.ts';
import { conclusionsOf } from './judging.ts';

const warm: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };

/** Twelve ratios around 1 with a spread of about 1 %, the same each time. */
const SPREAD = [0.011, -0.004, 0.007, -0.012, 0.002, -0.008, 0.013, -0.001, 0.005, -0.006, 0.009, -0.01];

/** A session in which `target` differs from the reference by `shift` (a log-ratio), round for round. */
const sessionOf = (
  shifts: Record<string, number>,
  { rounds = 12, base = 10, metric = 'warm', turns = 1, name = 's', more = 0 } = {},
): Session => ({
  name,
  series: [
    { target: 'ref', turns, metric, values: Array.from({ length: rounds }, () => base) },
    ...Object.entries(shifts).map(([target, shift]) => ({
      target,
      turns,
      metric,
      values: Array.from({ length: rounds }, (_, at) => base * Math.exp(shift + more + SPREAD[at % 12]!)),
    })),
  ],
});

const inputOf = (sessions: Session[], more: Partial<EvidenceInput> = {}): EvidenceInput => ({
  reference: 'ref',
  candidates: ['mine'],
  turns: [1],
  metrics: [warm],
  sessions,
  ...more,
});

const judge = conclusionsOf;

const settleOf = (shift: number) => judge(inputOf([sessionOf({ mine: shift })]))[0]!.settle;

const wordAt = (margin: number) => judge(inputOf([sessionOf({ mine: 0.03 })], { margin }))[0]!.conclusion;

const floorOf = (level: number) => ({
  target: 'floor',
  turns: 1,
  metric: 'warm',
  values: SPREAD.map((one) => level + one),
});

const signedValues = (shift: number) => SPREAD.map((one) => shift + 10 * one);

const beside = (control: number) =>
  judge(inputOf([sessionOf({ mine: 0.2, control })], { control: 'control' }));

const several = (count: number, spread: number) =>
  Array.from({ length: count }, (_, at) =>
    sessionOf({ mine: 0.1, control: 0 }, { name: `n${at + 1}`, more: spread * SPREAD[at]! }),
  );

/** The session with one target's values changed. */
const changed = (
  session: Session,
  target: string,
  change: (values: (number | null)[]) => (number | null)[],
): Session => ({
  ...session,
  series: session.series.map((one) =>
    Object.assign({}, one, one.target === target ? { values: change([...one.values]) } : {}),
  ),
});

describe('the interval against the margin', () => {
  test.each([
    [0.04, 0.06, 'lower', 'slower'],
    [0.04, 0.06, 'higher', 'faster'],
    [-0.06, -0.04, 'lower', 'faster'],
    [-0.06, -0.04, 'higher', 'slower'],
    [-0.02, 0.02, 'lower', 'same'],
    [0.01, 0.02, 'lower', 'same'],
    [-0.03, 0.03, 'lower', 'same'],
    [0.02, 0.04, 'lower', 'cant-tell'],
    [-0.05, 0.01, 'lower', 'cant-tell'],
    [-0.05, 0.05, 'lower', 'cant-tell'],
    [-Infinity, Infinity, 'lower', 'cant-tell'],
    [NaN, NaN, 'lower', 'cant-tell'],
  ] as const)('%d to %d, %s is better: %s', (low, high, better, word) =>
    expect(wordOf(low, high, 0.03, better)).toBe(word),
  );
});

describe('one session', () => {
  test.each([
    [0.1, 'slower'],
    [-0.1, 'faster'],
    [0, 'same'],
    [0.03, 'cant-tell'],
  ] as const)('a shift of %d: %s', (shift, word) => {
    const [one] = judge(inputOf([sessionOf({ mine: shift })]));
    expect(one).toMatchObject({
      candidate: 'mine',
      turns: 1,
      metric: 'warm',
      basis: 'wall',
      conclusion: word,
      rounds: 12,
      scope: 'session',
      family: 1,
    });
    expect(one!.low!).toBeLessThan(one!.ratio!);
    expect(one!.high!).toBeGreaterThan(one!.ratio!);
    expect(Math.abs(Math.log(one!.ratio!) - shift)).toBeLessThan(0.005);
  });
  test('rates: more is faster', () => {
    const rate: Metric = { ...warm, better: 'higher' };
    expect(judge(inputOf([sessionOf({ mine: 0.1 })], { metrics: [rate] }))[0]!.conclusion).toBe('faster');
  });
  test('three rounds are underpowered, and can’t tell', () => {
    const [one] = judge(inputOf([sessionOf({ mine: 0.5 }, { rounds: 3 })]));
    expect(one).toMatchObject({
      conclusion: 'cant-tell',
      underpowered: true,
      smallestP: 0.25,
      p: 0.25,
      low: null,
      high: null,
    });
    expect(one!.detectable).toBeUndefined();
  });
  test('what the run could have seen lies above the margin, and more rounds see less', () => {
    const [few, many] = [6, 12].map(
      (rounds) => judge(inputOf([sessionOf({ mine: 0 }, { rounds })]))[0]!.detectable!,
    );
    expect(many!).toBeGreaterThan(0.03);
    expect(few!).toBeGreaterThan(many!);
  });
  test('near the margin a few more rounds would settle it; at it they would not', () => {
    expect(settleOf(Math.log1p(0.03) + 0.003)!.rounds).toBeGreaterThan(0);
    expect(settleOf(Math.log1p(0.03))).toBeUndefined();
    expect(settleOf(0.1)).toBeUndefined();
  });
  test('other margins, other answers', () => {
    expect([wordAt(0.01), wordAt(0.03), wordAt(0.06)]).toEqual(['slower', 'cant-tell', 'same']);
  });
  test('floors: subtracted where the metric is net; nothing left is no ratio', () => {
    const net: Metric = { ...warm, net: true };
    const session = sessionOf({ mine: Math.log(1.1) });
    const judged = (level: number) =>
      conclusionsOf(
        inputOf([{ ...session, series: [...session.series, floorOf(level)] }], {
          metrics: [net],
          floor: 'floor',
        }),
      );
    // 11 of 10 is 10 % more; of what stands above 5 it is 20 %.
    expect(judged(5)[0]!.ratio).toBeCloseTo(1.2, 2);
    const [below] = judged(9.99);
    expect(below).toMatchObject({
      conclusion: 'cant-tell',
      ratio: null,
      low: null,
      high: null,
      p: null,
      rounds: 0,
    });
    expect(below!.sentence).toStartWith("can't tell for mine: below floor");
  });
  test('an unanswered question stands in its place, and shares no level', () => {
    const one = sessionOf({ mine: 0.1, other: 0.1 });
    const input = inputOf([changed(one, 'mine', () => [])], { candidates: ['mine', 'other'] });
    expect(judge(input).map(({ candidate, conclusion, family }) => [candidate, conclusion, family])).toEqual([
      ['mine', 'cant-tell', 1],
      ['other', 'slower', 1],
    ]);
  });
  test('signed metrics: differences, with the margin as a share of the reference', () => {
    const signed: Metric = {
      key: 'warm',
      basis: 'count',
      better: 'lower',
      primary: true,
      signed: true,
      unit: 'B',
    };
    const session: Session = {
      name: 's',
      series: [
        { target: 'ref', turns: 1, metric: 'warm', values: Array.from({ length: 12 }, () => -100) },
        { target: 'mine', turns: 1, metric: 'warm', values: signedValues(-90) },
      ],
    };
    const [one] = judge(inputOf([session], { metrics: [signed] }));
    expect(one).toMatchObject({
      conclusion: 'slower',
      ratio: null,
      low: null,
      high: null,
      difference: { unit: 'B' },
    });
    expect(one!.difference!.estimate).toBeCloseTo(10, 1);
    const [same] = judge(inputOf([session], { metrics: [signed], margin: 0.2 }));
    expect(same!.conclusion).toBe('same');
  });
  test('signed metrics around 0 have no margin, and nothing that is not finite', () => {
    const signed: Metric = { ...warm, basis: 'count', signed: true };
    const session = changed(sessionOf({ mine: 0 }), 'ref', (values) => values.map((_, at) => (at % 2) - 0.5));
    const [one] = judge(inputOf([session], { metrics: [signed] }));
    expect(one).toMatchObject({ conclusion: 'slower', difference: { estimate: expect.any(Number) } });
    expect(one!.detectable).toBeUndefined();
  });
  test.each([
    ['zeros', Array.from({ length: 12 }, () => 0), 'values of 0 or less'],
    ['a target without values', [], 'no round has a value of both'],
    ['only absent values', Array.from({ length: 12 }, () => null), 'no round has a value of both'],
  ])('%s: nothing to conclude from', (_, values, reason) => {
    const session = changed(sessionOf({ mine: 0 }), 'mine', () => values);
    expect(judge(inputOf([session]))).toMatchObject([
      { conclusion: 'cant-tell', ratio: null, p: null, family: 0, reason: expect.stringContaining(reason) },
    ]);
  });
});

describe('the control', () => {
  test('that agrees stands beside the conclusion', () => {
    const [one, ...rest] = beside(0);
    expect(rest).toEqual([]);
    expect(one).toMatchObject({ conclusion: 'slower', control: { differs: false } });
  });
  test('that differs takes every conclusion away', () => {
    const [one] = beside(0.02);
    expect(one).toMatchObject({ conclusion: 'cant-tell', control: { differs: true } });
    expect(one!.sentence).toContain('control pair');
    expect(one!.settle).toBeUndefined();
  });
});

describe('several sessions', () => {
  test('fewer than five stand one by one', () => {
    const all = judge(inputOf(several(4, 1)));
    expect(all.map((one) => [one.session, one.scope, one.conclusion])).toEqual(
      ['n1', 'n2', 'n3', 'n4'].map((name) => [name, 'session', 'slower']),
    );
  });
  test('what varies between a few is told, and how many more would say it of the program', () => {
    const [calm, wild] = [0, 8].map((spread) => judge(inputOf(several(3, spread))));
    expect(calm!.map((one) => one.betweenSd)).toEqual([0, 0, 0]);
    const [between] = new Set(wild!.map((one) => one.betweenSd));
    expect(between!).toBeGreaterThan(0.03);
    // Those that are settled for themselves ask for nothing.
    expect(wild!.every(({ conclusion, settle }) => conclusion === 'slower' && settle === undefined)).toBe(
      true,
    );
    const near = several(2, 0.3).map((one) =>
      changed(one, 'mine', (values) => values.map((value) => value! * Math.exp(-0.069))),
    );
    for (const { conclusion, settle, sentence } of judge(inputOf(near))) {
      expect(conclusion).toBe('cant-tell');
      // Fewer than five in all are never judged together.
      expect(settle!.sessions!).toBeGreaterThanOrEqual(3);
      expect(sentence).toMatch(
        new RegExp(`about ${settle!.sessions} more sessions (would settle it )?for the program$`),
      );
    }
    expect(judge(inputOf(several(1, 0)))[0]!.betweenSd).toBeUndefined();
  });
  test('from five on they are blocks', () => {
    const all = judge(inputOf(several(5, 1)));
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ scope: 'sessions', sessions: 5, rounds: 60, conclusion: 'slower' });
    expect(all[0]!.session).toBeUndefined();
    expect(all[0]!.detectable!).toBeGreaterThan(0.03);
  });
  test('what varies between sessions widens the interval, and asks for more sessions', () => {
    const [calm, wild] = [0, 8].map((spread) => judge(inputOf(several(6, spread)))[0]!);
    expect(calm!.betweenSd).toBe(0);
    expect(wild!.betweenSd!).toBeGreaterThan(0.03);
    expect(wild!.conclusion).toBe('cant-tell');
    expect(wild!.settle!.sessions).toBeGreaterThan(0);
  });
  test('a control that differs over sessions takes the conclusion away', () => {
    const all = several(5, 0).map((one) =>
      changed(one, 'control', (values) => values.map((value) => value! * 1.05)),
    );
    expect(judge(inputOf(all, { control: 'control' }))[0]).toMatchObject({
      conclusion: 'cant-tell',
      control: { differs: true },
    });
  });
  test('a comparison that one session lacks is not pooled', () => {
    const all = several(5, 1).map((one, at) => (at === 2 ? changed(one, 'mine', () => []) : one));
    expect(judge(inputOf(all))).toMatchObject([
      { conclusion: 'cant-tell', scope: 'sessions', reason: "session 'n3': no round has a value of both" },
    ]);
  });
});

test('swapping the targets swaps faster and slower', () => {
  const there = judge(inputOf([sessionOf({ mine: 0.1 })]))[0]!;
  const back = judge(inputOf([sessionOf({ mine: 0.1 })], { reference: 'mine', candidates: ['ref'] }))[0]!;
  expect([there.conclusion, back.conclusion]).toEqual(['slower', 'faster']);
  expect(back.low!).toBeCloseTo(1 / there.high!, 12);
  expect(back.p).toBe(there.p);
});

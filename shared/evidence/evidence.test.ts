import { expect, test } from 'bun:test';
import { conclusion, doubt } from '../../schemas/analysis.ts';
import { problemsOf } from '../read.ts';
import { evidenceOf } from './evidence.ts';
import type { EvidenceInput, Metric } from './input.ts';
import { isDecided } from './judging.ts';
import { generator } from './random.ts';
import { plannedLooks } from './spending.ts';

const warm: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };
const cpuWarm: Metric = { key: 'cpuWarm', basis: 'cpu', better: 'lower', primary: false };
const random = generator(10);
const values = (rounds: number, level: number): number[] =>
  Array.from({ length: rounds }, () => level * Math.exp(0.02 * (random() - 0.5)));

const inputOf = (rounds: number, ratio: number, more: Partial<EvidenceInput> = {}): EvidenceInput => ({
  reference: 'ref',
  candidates: ['mine'],
  turns: [50, 500],
  metrics: [warm, cpuWarm],
  sessions: [
    {
      name: 's',
      series: [50, 500].flatMap((turns) =>
        ['warm', 'cpuWarm'].flatMap((metric) => [
          { target: 'ref', turns, metric, values: values(rounds, 10) },
          { target: 'mine', turns, metric, values: values(rounds, 10 * ratio) },
        ]),
      ),
    },
  ],
  ...more,
});

test('primary metrics are judged, the others are shown, and all of it fits the format', () => {
  const { conclusions, doubts, shown } = evidenceOf(inputOf(12, 1.2));
  expect(conclusions.map((one) => [one.turns, one.metric, one.conclusion, one.family])).toEqual([
    [50, 'warm', 'slower', 2],
    [500, 'warm', 'slower', 2],
  ]);
  expect(shown.map((one) => [one.turns, one.metric, one.rounds])).toEqual([
    [50, 'cpuWarm', 12],
    [500, 'cpuWarm', 12],
  ]);
  expect(shown[0]!.sentence).toMatch(
    /^mine measures \d+\.\d % slower on cpuWarm at 50 turns \(95 %: .*, CPU, this session, 12 rounds\), not a primary metric$/,
  );
  for (const { ratio, low, high } of shown) {
    expect(low!).toBeLessThan(ratio!);
    expect(high!).toBeGreaterThan(ratio!);
  }
  expect(doubts).toEqual([]);
  for (const one of conclusions)
    expect(problemsOf(conclusion, { value: JSON.parse(JSON.stringify(one)) }, 'conclusion')).toEqual([]);
});

test('what can’t be bounded fits the format too', () => {
  const { conclusions, doubts } = evidenceOf(inputOf(3, 0.001, { control: 'ref' }));
  for (const one of conclusions)
    expect(problemsOf(conclusion, { value: JSON.parse(JSON.stringify(one)) }, 'conclusion')).toEqual([]);
  expect(doubts.map((one) => one.name)).toEqual(['short']);
  for (const one of doubts) expect(problemsOf(doubt, { value: one }, 'doubt')).toEqual([]);
  expect(conclusions[0]).toMatchObject({
    conclusion: 'cant-tell',
    underpowered: true,
    control: { differs: false },
  });
});

test('the same input, the same evidence', () => {
  const input = inputOf(20, 1.01);
  expect(evidenceOf(input)).toEqual(evidenceOf(structuredClone(input)));
});

test('decided: at a planned look, when every conclusion is reached', () => {
  const looks = plannedLooks(12);
  const decided = (rounds: number, ratio: number): boolean =>
    isDecided(evidenceOf(inputOf(rounds, ratio, { looks, turns: [50] })).conclusions);
  expect([decided(6, 1.5), decided(6, 1.03), decided(12, 1.03)]).toEqual([true, false, false]);
  expect(isDecided([])).toBe(false);
});

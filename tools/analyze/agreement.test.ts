/** Where the tracker's verdict and a conclusion differ, and why. */
import { expect, test } from 'bun:test';
import type { Comparison, Conclusion, Verdict } from '../../schemas/analysis.ts';
import { besideVerdict } from './agreement.ts';

const conclusionOf = (conclusion: Conclusion['conclusion'], more: object = {}): Conclusion => ({
  candidate: 'mine',
  turns: 50,
  metric: 'peakRss',
  basis: 'count',
  conclusion,
  ratio: 1,
  low: 0.9,
  high: 1.1,
  p: 0.5,
  margin: 0.03,
  rounds: 12,
  scope: 'session',
  sentence: '…',
  ...more,
});

const beside = (one: Conclusion, verdict?: Verdict) =>
  besideVerdict(one, [
    {
      candidate: 'mine',
      turns: 50,
      verdicts: verdict ? { peakRssMB: verdict } : {},
    } as unknown as Comparison,
  ]);

test.each<[Conclusion['conclusion'], Verdict]>([
  ['faster', 'win'],
  ['faster', 'slightly better'],
  ['slower', 'lose'],
  ['same', 'tie'],
  // Not to know and to tie claim nothing that the other denies.
  ['cant-tell', 'tie'],
])('%s and %s agree', (conclusion, verdict) => {
  const found = beside(conclusionOf(conclusion), verdict);
  expect(found).toMatchObject({ verdict });
  expect(found).not.toHaveProperty('disagreement');
});

test.each<[Conclusion['conclusion'], Verdict, object, string]>([
  ['cant-tell', 'lose', {}, 'asks nothing about noise'],
  [
    'cant-tell',
    'win',
    { underpowered: true, rounds: 4 },
    '4 rounds are too few to tell any difference from noise',
  ],
  [
    'same',
    'lose',
    {},
    'lie more than 3 % apart; paired round by round the difference stays within the margin of 3 %',
  ],
  ['slower', 'tie', { margin: 0.01 }, 'it ties everything within 3 %, and the margin asked for is 1 %'],
  ['faster', 'tie', {}, 'lie within 3 %; paired round by round the difference is larger'],
  ['faster', 'lose', {}, 'point the other way'],
  ['slower', 'slightly better', {}, 'point the other way'],
])('%s and %s do not, and it is said why', (conclusion, verdict, more, says) => {
  const { disagreement } = beside(conclusionOf(conclusion, more), verdict);
  expect(disagreement).toStartWith(`the tracker says '${verdict}' on peakRss of mine at 50 turns: `);
  expect(disagreement).toContain(says);
});

test('a metric that the tracker has no verdict of stands alone', () => {
  expect(beside(conclusionOf('faster'))).toEqual(conclusionOf('faster'));
});

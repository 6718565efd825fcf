import { expect, test } from 'bun:test';
import type { Analysis } from '../../../schemas/analysis.ts';
import { metricsOf } from '../../../shared/sample-values.ts';
import type { RunPayload } from '../payload.ts';
import { isSigned, roundsOf } from './pairs.ts';

/** A run without conclusions, in whose rounds values are negative, 0, and positive. */
const payloadOf = (own: Analysis['metrics'], key: string): RunPayload => ({
  format: 'report/1',
  analysis: { conclusions: [], metrics: own } as unknown as Analysis,
  metrics: metricsOf({ metrics: own }),
  series: (['reference', 'candidate'] as const).map((role, at) => ({
    session: 's',
    turns: 1,
    target: role,
    role,
    rounds: [0, 1, 2],
    values: { [key]: [-4 + at, 0, 5 + 2 * at] },
  })),
});

test.each<[string, Analysis['metrics']]>([
  ['growthPerTurn', []],
  ['drift', [{ key: 'drift', unit: 'ms', better: 'lower', signed: true }]],
])('rounds of a signed metric are differences, whatever was concluded: %s', (key, own) => {
  const [payload, about] = [payloadOf(own, key), { turns: 1, metric: key, series: 0 }];
  expect(isSigned(payload, about)).toBe(true);
  expect(roundsOf(payload, about, 's').map((one) => one.ratio)).toEqual([1, 0, 2]);
});

test('of any other they are ratios, and there is none of what is not above 0', () => {
  const own: Analysis['metrics'] = [{ key: 'wait', unit: 'ms', better: 'lower' }];
  const [payload, about] = [payloadOf(own, 'wait'), { turns: 1, metric: 'wait', series: 0 }];
  expect(isSigned(payload, about)).toBe(false);
  expect(roundsOf(payload, about, 's').map((one) => one.ratio)).toEqual([]);
  payload.series.forEach((one, at) => (one.values['wait'] = [4, 5 + at, 5 + 2 * at]));
  const ratios = roundsOf(payload, about, 's').map((one) => one.ratio);
  for (const [at, wanted] of [1, 6 / 5, 7 / 5].entries()) expect(ratios[at]).toBeCloseTo(wanted, 12);
});

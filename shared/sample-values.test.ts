import { expect, test } from 'bun:test';
import type { ResultLine } from '../schemas/results.ts';
import { metricsOf, sampleValues } from './sample-values.ts';

const metrics = metricsOf({
  metrics: [
    { key: 'served', unit: 'req/s', better: 'higher' },
    { key: 'wait', unit: 'ms', better: 'lower' },
  ],
});
const valuesOf = (row: Partial<ResultLine> & Record<string, unknown>) =>
  Object.fromEntries(sampleValues({ target: 'a', turns: 50, sample: 0, ...row }, metrics));

test.each<[string, Record<string, unknown>, Record<string, number>]>([
  ['warm is the median of the turns after the first', { turn: [9, 1, 4, 2] }, { warm: 2 }],
  ['cold is the opening and the first turn', { open: 0.5, turn: [9] }, { cold: 9.5 }],
  [
    'CPU times by the same rules',
    { open: 1, turn: [2, 3, 4], openCpu: 0.5, turnCpu: [1, 5, 7] },
    { warm: 3.5, cold: 3, cpuWarm: 6, cpuCold: 1.5 },
  ],
  [
    'CPU times of other turns are none',
    { open: 1, turn: [2, 3], openCpu: 0.5, turnCpu: [1] },
    { warm: 3, cold: 3 },
  ],
  [
    'null is not measured',
    { open: 1, turn: [2], openCpu: null, peakRss: null, bytes: 0 },
    { cold: 3, bytes: 0 },
  ],
  ['own metrics, one value or one for each turn', { served: 7, wait: [1, 9, 2] }, { served: 7, wait: 2 }],
  ['what is no number is no value', { served: 'many', wait: [1, 'x'], peakRss: Infinity }, {}],
  ['an imported row has its own values alone', { time: 5, wait: 3 }, { wait: 3 }],
])('%s', (_, row, wanted) => expect(valuesOf(row)).toEqual(wanted));

test('own metrics come last, with their unit and direction; times are known by their units', () => {
  expect(metrics.slice(-2)).toEqual([
    { key: 'served', label: 'served', unit: 'req/s', basis: 'count', better: 'higher' },
    { key: 'wait', label: 'wait', unit: 'ms', basis: 'wall', better: 'lower' },
  ]);
});

import { expect, test } from 'bun:test';
import { measuresOf } from './measures.ts';

const own = (key: string, unit: string, more: object = {}) => ({
  key,
  unit,
  better: 'higher' as const,
  gated: false,
  pooled: false,
  signed: false,
  ...more,
});
const byKey = (...args: Parameters<typeof measuresOf>) =>
  Object.fromEntries(measuresOf(...args).map((one) => [one.key, one]));

test('warm is primary unless the profile names others; times are wall or CPU, everything else counts', () => {
  const found = byKey({
    metrics: [own('rows', '1/s'), own('latency', 'ms'), own('balance', '€', { signed: true })],
  });
  expect(Object.values(found).filter((one) => one.primary)).toEqual([
    { key: 'warm', basis: 'wall', better: 'lower', primary: true, net: true, unit: 'ms' },
  ]);
  expect(Object.entries(found).map(([key, { basis }]) => [key, basis])).toEqual([
    ['warm', 'wall'],
    ['cold', 'wall'],
    ['cpuWarm', 'cpu'],
    ['cpuCold', 'cpu'],
    ['cpu', 'cpu'],
    ['cpuSeconds', 'cpu'],
    ['peakRss', 'count'],
    ['rss', 'count'],
    ['retained', 'count'],
    ['growthPerTurn', 'count'],
    ['bytes', 'count'],
    ['rows', 'count'],
    ['latency', 'wall'],
    ['balance', 'count'],
  ]);
  expect(found['rows']).toEqual({
    key: 'rows',
    basis: 'count',
    better: 'higher',
    primary: false,
    unit: '1/s',
  });
  expect(Object.values(found).flatMap((one) => (one.signed ? [one.key] : []))).toEqual([
    'growthPerTurn',
    'balance',
  ]);
  expect(Object.values(found).flatMap((one) => (one.net ? [one.key] : []))).toEqual(['warm', 'cold']);
});

test('what the profile names is primary', () => {
  const found = measuresOf({ metrics: [own('rows', '1')], primary: ['cpuWarm', 'rows'] });
  expect(found.filter((one) => one.primary).map((one) => one.key)).toEqual(['cpuWarm', 'rows']);
});

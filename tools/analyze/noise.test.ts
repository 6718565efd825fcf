import { describe, expect, test } from 'bun:test';
import type { MetricNoise, SizeNoise } from '../../schemas/noise.ts';
import { cvText, limitText } from '../../shared/analysis-words.ts';
import { gateProblems, medianNoise, noiseOfValues, writtenNoise } from './noise.ts';

const metric = (cv: number | null, more: Partial<MetricNoise> = {}): MetricNoise => ({
  n: 12,
  mean: cv === null ? 0 : 10,
  sd: cv === null ? 0 : 10 * cv,
  cv,
  gate: true,
  ...more,
});
const quiet = { warm: metric(0.01), cold: metric(0.01), cpu: metric(0.01) };
const said = (noise: SizeNoise, gate: 'wall' | 'cpu' = 'wall', maxCv = 0.05): string[] =>
  gateProblems(noise, gate, maxCv).map((one) => `${one.kind}: ${one.sentence}`);

test('noise is the mean, the sample standard deviation and their ratio, exact', () => {
  expect(noiseOfValues([1, 2, 3, 4], true)).toEqual({
    n: 4,
    mean: 2.5,
    sd: Math.sqrt(5 / 3),
    cv: Math.sqrt(5 / 3) / 2.5,
    gate: true,
  });
  expect(noiseOfValues([0, 0, 0], true).cv).toBeNull();
  expect(noiseOfValues([-1, 1], false)).toMatchObject({ mean: 0, cv: null });
  expect(writtenNoise({ a: { ...metric(1 / 3), mean: 1.0005, sd: 0.33349 } })['a']).toMatchObject({
    mean: 1.001,
    sd: 0.333,
    cv: 1 / 3,
  });
});

describe('the gate', () => {
  test.each<[string, SizeNoise, string[]]>([
    ['passes what is quiet', quiet, []],
    ['passes a CV exactly at the limit', { ...quiet, warm: metric(0.05) }, []],
    [
      'refuses a CV just above it, with three digits',
      { ...quiet, warm: metric(0.0500000001) },
      ['noisy: warm varies too much from run to run: its CV is 5.000%, the limit is 5%'],
    ],
    [
      'refuses each metric above it',
      { ...quiet, warm: metric(0.0721), cpu: metric(0.5) },
      [
        'noisy: warm varies too much from run to run: its CV is 7.2%, the limit is 5%',
        'noisy: cpu varies too much from run to run: its CV is 50.0%, the limit is 5%',
      ],
    ],
    ['lets what is not gated be noisy', { ...quiet, peakRss: metric(3, { gate: false }) }, []],
    [
      'wants at least three samples',
      { ...quiet, cold: metric(0.01, { n: 2 }) },
      ['few: cold has 2 samples, and a CV needs at least 3'],
    ],
    [
      'refuses zero in every sample',
      { ...quiet, bytes: metric(null) },
      ['unmeasured: bytes is 0 in every sample: it was not measured'],
    ],
    [
      'refuses a mean of nothing',
      { ...quiet, drift: metric(null, { sd: 3 }) },
      ['unmeasured: drift has a mean of 0, and so no CV'],
    ],
    [
      'is not fooled by a negative mean',
      { ...quiet, drift: metric(-0.5) },
      ['noisy: drift varies too much from run to run: its CV is 50.0%, the limit is 5%'],
    ],
    [
      'passes no NaN',
      { ...quiet, cpu: metric(Number.NaN) },
      ['noisy: cpu varies too much from run to run: its CV is NaN%, the limit is 5%'],
    ],
    [
      'needs warm, cold and cpu',
      {},
      ['warm', 'cold', 'cpu'].map(
        (one) => `unmeasured: ${one} was not measured in every sample, and the gate needs it`,
      ),
    ],
  ])('%s', (_, noise, expected) => expect(said(noise)).toEqual(expected));

  test('on CPU times needs cpu alone', () =>
    expect(said({}, 'cpu')).toEqual([
      'unmeasured: cpu was not measured in every sample, and the gate needs it',
    ]));
});

test.each([
  [0.05, 0.05, '5.000%'],
  [0.0504, 0.05, '5.040%'],
  [0.0506, 0.05, '5.1%'],
  [0.04949, 0.05, '4.9%'],
  [0.123456, 0.05, '12.3%'],
  [0.0254, 0.025, '2.540%'],
  [0.02, 0.025, '2.0%'],
])('a CV of %d beside the limit %d prints as %s', (cv, limit, text) => expect(cvText(cv, limit)).toBe(text));

test.each([
  [0.05, '5%'],
  [0.1, '10%'],
  [0.025, '2.5%'],
  [0.0005, '0.05%'],
  [1, '100%'],
])('a limit of %d prints as %s', (limit, text) => expect(limitText(limit)).toBe(text));

describe('over sessions', () => {
  test('each metric that all have is a median, with the smallest n', () => {
    const all = [
      { a: metric(0.1, { mean: 1, sd: 5, n: 12 }), b: metric(0.1) },
      { a: metric(0.3, { mean: 3, sd: 1, n: 9 }), b: metric(0.1) },
      { a: metric(0.2, { mean: 2, sd: 9, n: 15 }) },
    ];
    expect(medianNoise(all)).toEqual({ a: { n: 9, mean: 2, sd: 5, cv: 0.2, gate: true } });
  });
  test('one is itself; none is none; a CV that one lacks is none', () => {
    expect(medianNoise([quiet])).toEqual(quiet);
    expect(medianNoise([])).toEqual({});
    expect(medianNoise([{ a: metric(null) }, { a: metric(0.1) }])['a']!.cv).toBeNull();
  });
});

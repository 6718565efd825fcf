/** Exact values and verdicts of made logs: which exist, in which order, and what they are. */
import { describe, expect, test } from 'bun:test';
import type { Analysis, Comparison } from '../../schemas/analysis.ts';
import { median, quantile } from '../../shared/statistics.ts';
import { type Line, type Made, madeLog, sealed, sessionLines, TARGETS } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';
import { medianValues, verdictsOf } from './values.ts';

const compared = async (made: Partial<Made>): Promise<Comparison[]> => {
  const { stdout } = await runTool(main, ['--log', '-', '--json', '--max-cv', '9'], { stdin: madeLog(made) });
  return (JSON.parse(stdout) as Analysis).comparisons;
};
const floor = { name: 'memory', role: 'floor' as const };
const of = (wanted: string, change: Line) => (target: string) => (target === wanted ? change : {});

const turn = (round: number): number[] => [99, 3 + round, 1, 4, 1.5 + 2 * round];

const lacking = (target: string, _: number, round: number): Line =>
  target === 'sqlite' && round === 2 ? { peakRss: null, turnCpu: [1] } : {};

describe('values', () => {
  test('stand in the order of the format, those that exist', async () => {
    const [one] = await compared({
      targets: [...TARGETS, floor],
      sample: () => ({ retained: 3, growthPerTurn: -1 }),
    });
    expect(Object.keys(one!.values).join(' ')).toBe(
      'warm warmP95 warmMax cold coldP95 coldMax seedS cpuWarm cpuCold retainedMB growthPerTurn peakRssMB ' +
        'piWarm piWarmP95 piWarmMax piCold piColdP95 piSeedS piCpuWarm piCpuCold piRetainedMB piGrowthPerTurn piPeakRssMB ' +
        'floorWarm floorCold',
    );
    expect(Object.keys(one!.verdicts).join(' ')).toBe(
      'warm warmP95 cold coldP95 cpuWarm cpuCold retainedMB peakRssMB seedS',
    );
  });

  test('are pooled over all turns of all samples, against a plain twin', async () => {
    const [one] = await compared({
      rounds: 7,
      sample: (target, _, round) =>
        target === 'journal'
          ? { turn: turn(round), turnCpu: turn(round).map((each) => each / 3), open: round }
          : {},
    });
    const rounds = [0, 1, 2, 3, 4, 5, 6];
    const pooled = rounds.flatMap((round) => turn(round).slice(1));
    const cold = rounds.map((round) => 99 + round);
    expect(one!.warmTurns).toBe(28);
    expect(one!.values).toMatchObject({
      warm: median(pooled),
      warmP95: quantile(pooled, 0.95),
      warmMax: Math.max(...pooled),
      cold: median(cold),
      coldP95: quantile(cold, 0.95),
      coldMax: 105,
      cpuWarm: median(pooled.map((each) => each / 3)),
      seedS: 1,
      peakRssMB: 1000 * 1.048576,
    });
  });

  test('are net of the floor and never clamped; a pair that is not above 0 has no verdict', async () => {
    const [one] = await compared({
      targets: [...TARGETS, floor],
      sample: (target) =>
        ({
          memory: { open: 1, turn: [1, 6] },
          journal: { open: 0, turn: [1, 5] },
          sqlite: { open: 2, turn: [4, 6] },
        })[target]!,
    });
    expect(one!.values).toMatchObject({
      warm: -1,
      piWarm: 0,
      cold: -1,
      piCold: 4,
      floorWarm: 6,
      floorCold: 2,
    });
    expect(Object.keys(one!.verdicts)).toEqual(['peakRssMB', 'seedS']);
  });

  test('without a floor to take off are left out', async () => {
    const [one] = await compared({
      targets: [...TARGETS, floor],
      sample: of('memory', { turn: [2], turnCpu: [1] }),
    });
    expect(one!.values['warm']).toBeUndefined();
    expect(one!.values['floorWarm']).toBeUndefined();
    expect(one!.values['cold']).toBeDefined();
  });

  test('of memory exist only when every sample of both has them; CPU times stand alone', async () => {
    const [one] = await compared({ sample: lacking });
    expect(one!.values['peakRssMB']).toBeUndefined();
    expect(one!.values['piPeakRssMB']).toBeUndefined();
    expect(one!.values['cpuWarm']).toBeDefined();
    expect(one!.values['piCpuWarm']).toBeUndefined();
    expect(one!.verdicts['cpuWarm']).toBeUndefined();
  });

  test('of a seed that is no cost do not exist', async () => {
    const [one] = await compared({ seed: () => ({ seedMs: undefined }) });
    expect(one!.values['seedS']).toBeUndefined();
    expect(one!.values['piSeedS']).toBeUndefined();
  });

  test("of a profile's metrics follow: pooled over turns or medians of samples, only when both have all", async () => {
    const metrics = [
      { key: 'rows', unit: '1', better: 'higher' },
      { key: 'lag', unit: 'ms', better: 'lower', pooled: true },
      { key: 'drift', unit: '1', better: 'lower', signed: true },
      { key: 'gone', unit: '1', better: 'lower' },
    ];
    const [one] = await compared({
      rounds: 3,
      profile: { metrics },
      sample: (target, _, round) => ({
        ...(target === 'journal'
          ? { rows: 200 + round, lag: [1, 2 + round], drift: -2 }
          : { rows: 100, lag: [5, 5], drift: 3 }),
        ...(round === 1 && target === 'journal' ? {} : { gone: 1 }),
      }),
    });
    const own = Object.entries(one!.values).slice(-6);
    expect(own).toEqual([
      ['rows', 201],
      ['piRows', 100],
      ['lag', 1.5],
      ['piLag', 5],
      ['drift', -2],
      ['piDrift', 3],
    ]);
    expect(one!.verdicts).toMatchObject({ rows: 'win', lag: 'win' });
    expect(one!.verdicts).not.toHaveProperty('drift');
  });

  test('of several candidates have their own rules, in the order of the profile within a size', async () => {
    const all = await compared({
      turns: [50, 500],
      targets: [
        { name: 'a', role: 'candidate' },
        { name: 'sqlite', role: 'reference' },
        { name: 'b', role: 'candidate', rule: 'special' },
      ],
    });
    expect(all.map((one) => [one.turns, one.candidate, one.rule, one.fingerprint])).toEqual([
      [50, 'a', 'store-a', 'seed-50'],
      [50, 'b', 'special', 'seed-50'],
      [500, 'a', 'store-a', 'seed-500'],
      [500, 'b', 'special', 'seed-500'],
    ]);
  });

  test("of a log of before, which says 'pig' for a candidate, are the same", async () => {
    const lines = sessionLines().map(
      (line) => JSON.parse(JSON.stringify(line).replace('"candidate"', '"pig"')) as Line,
    );
    const { stdout } = await runTool(main, ['--log', '-', '--json'], { stdin: sealed(lines) });
    expect((JSON.parse(stdout) as Analysis).comparisons).toEqual(await compared({}));
  });
});

test('over sessions a value is the median of those that all have it', () =>
  expect(medianValues([{ a: 1, b: 5 }, { a: 9, b: 7 }, { a: 2 }])).toEqual({ a: 2 }));

test.each<[Record<string, number>, Record<string, string>]>([
  [{ warm: 1.03, piWarm: 1 }, { warm: 'tie' }],
  [{ warm: 0, piWarm: 1 }, {}],
  [{ warm: 1, piWarm: -1 }, {}],
  [{ warm: 1 }, {}],
  [
    { seedS: 1, piSeedS: 2, warm: 2, piWarm: 1 },
    { warm: 'lose', seedS: 'win' },
  ],
])('verdicts of %j are %j', (values, verdicts) => {
  expect(verdictsOf(values, [])).toEqual(verdicts as never);
  expect(Object.keys(verdictsOf(values, []))).toEqual(Object.keys(verdicts));
});

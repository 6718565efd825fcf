import { describe, expect, test } from 'bun:test';
import type { Analysis, Comparison, Verdict } from '../../schemas/analysis.ts';
import { coreOf, deltaText, disagrees, trackLineOf } from './track-line.ts';

test.each<[number, unknown, string]>([
  [112, 100, '+12%'],
  [97, 100, '-3%'],
  [100, 100, '+0%'],
  [99.9, 100, '-0%'],
  [100.4, 100, '+0%'],
  [100.5, 100, '+1%'],
  [99.5, 100, '-1%'],
  [102.5, 100, '+3%'],
  [0, 100, '-100%'],
  [-50, 100, '-150%'],
  [-50, -100, '+50%'],
  [-150, -100, '-50%'],
  [5, 0, 'n/a'],
  [5, undefined, 'n/a'],
  [5, 'store', 'n/a'],
  [66.4529, 30, '+122%'],
])('%d against %p is %s', (value, base, text) => expect(deltaText(value, base)).toBe(text));

test.each([
  ['0123456789abcdef', '0123456789'],
  ['0123456789abcdef-dirty', '0123456789-dirty'],
  ['abc', 'abc'],
  ['abc-dirty', 'abc-dirty'],
  ['', ''],
])("the core of '%s' is '%s'", (commit, core) => expect(coreOf(commit)).toBe(core));

describe('this run and the rolling median disagree', () => {
  const words: Verdict[] = ['win', 'slightly better', 'tie', 'lose'];
  test('when exactly one of the two is a win, or exactly one a lose', () => {
    for (const run of words)
      for (const rolling of words) {
        const [wins, loses] = ['win', 'lose'].map(
          (one) => [run, rolling].filter((each) => each === one).length,
        );
        expect([run, rolling, disagrees(run, rolling)]).toEqual([run, rolling, wins === 1 || loses === 1]);
      }
  });
});

const comparison: Comparison = {
  candidate: 'a',
  reference: 'r',
  rule: 'store',
  turns: 50,
  fingerprint: 'f',
  warmTurns: 9,
  samples: 3,
  values: {
    warm: 10.25,
    cold: -0.04,
    growthPerTurn: 3.35,
    piWarm: 20,
    piCold: 4,
    piGrowthPerTurn: 1,
    rows: 10,
    piRows: 5,
  },
  beside: {},
  verdicts: { warm: 'win', rows: 'win' },
  throttle: {
    a: { samples: 3, throttledSamples: 1, nrThrottled: 1, throttledUsec: 5 },
    r: { samples: 3, throttledSamples: null, nrThrottled: null, throttledUsec: null },
  },
};
const analysis: Analysis = {
  format: 'analysis/1',
  run: 'k8sbench-cmp-x',
  mode: 'compare',
  profile: 'store',
  rule: 'store',
  measured_at: '2026-01-02T03:04:05.000Z',
  commit: '0123456789abcdef-dirty',
  gate: 'cpu',
  maxCv: 0.05,
  judged: true,
  exit: 0,
  reasons: [],
  advice: [],
  turns: [50],
  rounds: 3,
  sessions: [
    {
      run: 'k8sbench-cmp-x',
      node: 'node-a',
      nodeType: { cpuModel: 'CPU', cpuFeatures: 'avx', gomaxprocs: 2 },
      cpuSet: 'shared',
      cpus: '0-1',
      fixedClock: true,
      delivery: 'local',
      commit: '0123456789abcdef-dirty',
      started_at: '2026-01-02T03:04:05.000Z',
      foreignLines: 0,
      throttle: {},
    },
  ],
  noise: { '50': { warm: { n: 3, mean: 20, sd: 0, cv: 0, gate: false } } },
  comparisons: [comparison],
  metrics: [{ key: 'rows', unit: 'rows/s', better: 'higher' }],
  identities: { a: { commit: '0123456789abcdef-dirty' }, r: {} },
  doubts: [],
  conclusions: [],
  settings: { gate: 'auto', maxCv: 0.05, allowIncomplete: false, k8sbench: '0' },
  inputs: {},
  outputs: {},
};
const line = (more: Partial<Parameters<typeof trackLineOf>[2]> = {}, changed: Partial<Analysis> = {}) =>
  trackLineOf({ ...analysis, ...changed }, comparison, {
    otherReferences: 0,
    at: '2026-01-02T05:00:00.000Z',
    baseline: undefined,
    rolling: (_, own) => ({ value: own, n: 1 }),
    purpose: undefined,
    ...more,
  });

describe('a line', () => {
  test('rounds what it writes and nothing before', () => {
    const made = line({ rolling: (key, own) => ({ value: key === 'piWarm' ? 13.3249 : own, n: 2 }) });
    expect(made.values).toMatchObject({ warm: 10.3, cold: 0, growthPerTurn: 3.4 });
    // 13.3 / 10.3 would not be a win; 13.3249 / 10.25 is one by a hair's breadth.
    expect(made.compare['warm']).toEqual({
      pig: 10.3,
      piRun: 20,
      piRolling: 13.3,
      nRolling: 2,
      run: 'win',
      rolling: 'slightly better',
      disagree: true,
    });
    expect(made.disagree).toEqual(['warm']);
    expect(made.more!.values).toEqual(comparison.values);
  });

  test('judges the rolling median in the direction of the metric', () => {
    const rolling = line({ rolling: () => ({ value: 8, n: 3 }) }).compare['rows'];
    expect(rolling).toMatchObject({ run: 'win', rolling: 'slightly better' });
  });

  test('leaves out a metric whose rolling median is no base', () =>
    expect(line({ rolling: () => ({ value: -1, n: 3 }) }).compare).toEqual({}));

  test('takes deltas of exact values against the baseline, which it names', () => {
    const made = line({ baseline: { core: 'base', warm: 10, piWarm: 0, rule: 'store' } });
    expect(made.baseline).toBe('base');
    expect(made.delta).toMatchObject({ warm: '+3%', piWarm: 'n/a', cold: 'n/a' });
    expect(line({ baseline: { warm: 1 } }).baseline).toBe('none');
    expect(line().baseline).toBe('none');
  });

  test('keeps purpose, identities and its own conclusions', () => {
    const conclusion = { candidate: 'a', turns: 50 } as Analysis['conclusions'][number];
    const made = line({ purpose: 'main' }, { conclusions: [conclusion, { ...conclusion, turns: 500 }] });
    expect(made.more).toMatchObject({ purpose: 'main', candidate: 'a', reference: 'r', nodes: ['node-a'] });
    expect(made.more!.conclusions).toHaveLength(1);
    expect(line().more).not.toHaveProperty('purpose');
    expect(made.core).toBe('0123456789-dirty');
  });

  test('has its fields in the order of the format', () =>
    expect(Object.keys(line()).join(' ')).toBe(
      'at rule warmTurns core turns fingerprint run baseline values delta compare disagree summary more',
    ));
});

describe('the summary', () => {
  test('says all that a reader needs, in one paragraph', () =>
    expect(line({ baseline: { core: 'base', warm: 10 } }).summary).toBe(
      'store: store at 50 turns, commit 0123456789-dirty, on node-a, cores 0-1, cpuset shared, CPU [avx] GOMAXPROCS 2; ' +
        'no floor; n 3; gate cpu, wall times informational; ' +
        'a vs r (rolling): warm 10.3 vs 20.0 (20.0) ms win, rows 10.0 vs 5.0 (5.0) rows/s win; ' +
        'cold 0.0 vs 4.0 ms, no verdict: a net value is not above 0; heap growth/turn 3.4 vs 1.0 B; ' +
        'against base: warm +3%; CFS-throttled samples: a 1 of 3, r not measurable; ' +
        'run and rolling median agree; fingerprint f.',
    ));

  test('names the nodes of a spread, and what disagrees', () => {
    const [session] = analysis.sessions;
    const made = line(
      { rolling: () => ({ value: 10, n: 5 }) },
      {
        sessions: [session!, { ...session!, node: 'node-b' }],
        gate: 'wall',
        noise: { '50': { warm: { n: 3, mean: 1, sd: 0, cv: 0, gate: true } } },
      },
    );
    expect(made.summary).toContain(
      'median over nodes node-a, node-b, cpuset shared, CPU [avx] GOMAXPROCS 2; ',
    );
    expect(made.summary).toContain('gate wall; ');
    expect(made.summary).toContain('warm 10.3 vs 20.0 (10.0) ms win (tie)');
    expect(made.summary).toContain('run and rolling median disagree on warm');
    expect(line({}, { sessions: [session!, session!] }).summary).toContain(
      'median over 2 sessions on node-a',
    );
  });
});

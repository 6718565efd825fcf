/** What is concluded from whole logs whose truth was made: wiring from lines to sentences, statuses and bytes. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { type Analysis, analysis as analysisSchema, type Conclusion } from '../../schemas/analysis.ts';
import { generator } from '../../shared/evidence/random.ts';
import { type Made, madeLog, type MadeTarget, TARGETS } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const AA: MadeTarget[] = [...TARGETS, { name: 'sqlite-control', role: 'control' }];

/** Sessions whose targets take `times` as long as 20 ms a turn, each sample with noise of its own. */
const session = (times: Record<string, number>, made: Partial<Made> = {}, sd = 0.005): string => {
  const random = generator(12);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return madeLog({
    rounds: 12,
    ...made,
    sample: (target) => {
      const pace = 20 * (times[target] ?? 1) * Math.exp(sd * normal());
      return { open: pace, turn: [2 * pace, pace, pace], openCpu: pace, turnCpu: [pace, pace / 2, pace / 2] };
    },
  });
};

const analyzed = async (log: string, ...flags: string[]) => {
  const { exit, stdout, stderr } = await runTool(main, ['--log', '-', ...flags], { stdin: log });
  const analysis = stdout === '' ? undefined : (JSON.parse(stdout) as Analysis);
  if (analysis) expect(v.is(analysisSchema, analysis)).toBe(true);
  return { exit, stderr, stdout, analysis: analysis! };
};
const words = (analysis: Analysis): Conclusion['conclusion'][] =>
  analysis.conclusions.map((one) => one.conclusion);

/** A run of several sessions in a directory; each has noise of its own. */
const several = async (paces: readonly number[], over: 'nodes' | 'sessions'): Promise<Analysis> => {
  const place = mkdtempSync(join(tmpdir(), 'k8sbench-several-'));
  const children = paces.map((_, at) => ({
    run: `made-n${at + 1}`,
    dir: `made-n${at + 1}`,
    outcome: 'done',
  }));
  for (const [at, { run }] of children.entries()) {
    mkdirSync(join(place, 'made', run), { recursive: true });
    const facts = { node: over === 'nodes' ? `node-${at}` : 'node' };
    writeFileSync(join(place, 'made', run, 'pod.log'), session({ journal: paces[at]! }, { run, facts }));
  }
  writeFileSync(
    join(place, 'made', 'spread.json'),
    JSON.stringify({ format: 'spread/1', run: 'made', over, children }),
  );
  const { stdout } = await runTool(main, ['--run', join(place, 'made'), '--json']);
  rmSync(place, { recursive: true });
  return JSON.parse(stdout) as Analysis;
};

describe('a run of several sessions', () => {
  test('is concluded from all together, when they are five or more', async () => {
    const { conclusions } = await several([0.9, 0.91, 0.89, 0.9, 0.905], 'sessions');
    expect(conclusions).toMatchObject([
      { conclusion: 'faster', scope: 'sessions', sessions: 5, rounds: 60, verdict: 'slightly better' },
    ]);
    expect(conclusions[0]!.sentence).toContain('wall, 5 sessions, 60 rounds');
  });

  test('that differ more from each other than from nothing says so, however sure each is of itself', async () => {
    const { conclusions } = await several([0.85, 1.15, 0.9, 1.1, 1], 'sessions');
    expect(conclusions.map((one) => one.conclusion)).toEqual(['cant-tell']);
  });

  test('is concluded one by one, when they are fewer; by node when it is a spread', async () => {
    const nodes = await several([0.9, 1.1], 'nodes');
    expect(nodes.conclusions.map((one) => [one['session'], one.conclusion, one.scope])).toEqual([
      ['node-0', 'faster', 'session'],
      ['node-1', 'slower', 'session'],
    ]);
    // The tracker's verdict is about medians over both: no one of them is what it could disagree with.
    expect(nodes.conclusions.map((one) => 'verdict' in one)).toEqual([false, false]);
    const sessions = await several([1, 1], 'sessions');
    expect(sessions.conclusions.map((one) => one['session'])).toEqual(['made-n1', 'made-n2']);
  });
});

describe('pressure on the machine', () => {
  const waiting: Partial<Made> = { cpu: () => ({ psiCpuSomeUsec: 30_000, psiIoSomeUsec: 60_000 }) };
  const doubts = async (pin: Made['pin'], facts: Made['facts']): Promise<string[]> =>
    (await analyzed(session({}, { ...waiting, pin, facts }))).analysis.doubts.map((one) => one.sentence);
  const SAID =
    '24 of 24 samples ran while tasks of the machine waited for the measured cores, for more than 10 % of their time';

  test('is a doubt where all of its cores are measured', async () => {
    expect(await doubts({ pressureOf: 'machine' }, { cpusOnline: '0-1' })).toEqual([SAID]);
    expect(await doubts({ pressureOf: 'machine', cpus: '' }, { cpusOnline: '0-1' })).toEqual([SAID]);
  });

  test('is no doubt where a sample keeps all cores busy by itself', async () => {
    const busy = (usage: number): Partial<Made> => ({
      cpu: () => ({ wallMs: 100, usageUsec: usage * 200_000, psiCpuSomeUsec: 99_000 }),
      pin: { pressureOf: 'machine' },
      facts: { cpusOnline: '0-1' },
    });
    const names = async (usage: number): Promise<string[]> =>
      (await analyzed(session({}, busy(usage)))).analysis.doubts.map((one) => one.name);
    expect(await names(0.95)).toEqual([]);
    expect(await names(0.7)).toEqual(['contended']);
  });

  test('is nobody’s doubt where tasks wait for other cores', async () => {
    expect(await doubts({ pressureOf: 'machine' }, {})).toEqual([]);
    expect(await doubts({ pressureOf: 'machine' }, { cpusOnline: '' })).toEqual([]);
    expect(await doubts({}, { cpusOnline: '0-1' })).toEqual([]);
  });

  test('of a cgroup is the samples’ own', async () => {
    const [own] = await doubts({ pressureOf: 'cgroup' }, { cpusOnline: '0-1' });
    expect(own).toStartWith('24 of 24 samples stalled for CPU, memory or io');
  });
});

describe('a known truth', () => {
  test('of 10 % less is found, with the size of it in its interval, and said first', async () => {
    const { exit, stderr, analysis } = await analyzed(session({ journal: 0.9 }));
    expect(exit).toBe(0);
    expect(words(analysis)).toEqual(['faster']);
    const [{ ratio, low, high, margin, rounds, basis, scope, sentence }] = analysis.conclusions as [
      Conclusion,
    ];
    expect({ margin, rounds, basis, scope }).toEqual({
      margin: 0.03,
      rounds: 12,
      basis: 'wall',
      scope: 'session',
    });
    expect(ratio!).toBeCloseTo(0.9, 2);
    expect(low! < 0.9 && 0.9 < high!).toBe(true);
    expect(sentence).toMatch(
      /^journal is \d+\.\d % faster \(95 %: .*, wall, this session, 12 rounds, p = 0\.0005\)$/,
    );
    expect(stderr).toStartWith(`${sentence}\n\nnode-a`);
    expect(analysis.conclusions[0]).toMatchObject({ verdict: 'slightly better' });
    expect(analysis.conclusions[0]).not.toHaveProperty('disagreement');
    expect(analysis.shown!.map((one) => one.metric)).toEqual([
      'cold',
      'cpuWarm',
      'cpuCold',
      'cpu',
      'peakRss',
      'bytes',
    ]);
    expect(analysis.doubts).toEqual([]);
  });

  test.each([
    [1, 'same'],
    [1.1, 'slower'],
  ])('of %d times as long is %s', async (times, word) => {
    expect(words((await analyzed(session({ journal: times }))).analysis)).toEqual([word as never]);
  });

  test('that noise hides is not told, and the verdict that tells it all the same is explained', async () => {
    const { analysis, stderr } = await analyzed(session({ journal: 0.955 }, {}, 0.05), '--max-cv', '9');
    expect(words(analysis)).toEqual(['cant-tell']);
    expect(analysis.conclusions[0]).toMatchObject({ verdict: 'slightly better' });
    expect(stderr).toContain(
      "\n  the tracker says 'slightly better' on warm of journal at 50 turns: its rule compares two medians",
    );
  });

  test('is judged by the margin that was asked for, and the record says which', async () => {
    const log = session({ journal: 0.98 });
    const wide = await analyzed(log);
    const narrow = await analyzed(log, '--margin', '1%');
    expect([words(wide.analysis), words(narrow.analysis)]).toEqual([['same'], ['faster']]);
    expect([wide, narrow].map(({ analysis }) => analysis.settings.margin)).toEqual([0.03, 0.01]);
    expect(narrow.analysis.conclusions[0]!['disagreement']).toContain(
      "the tracker says 'tie' on warm of journal at 50 turns: it ties everything within 3 %, and the margin asked for is 1 %",
    );
  });
});

test('primary metrics are the profile’s; on shared cores the CPU twin of a wall time is said beside it', async () => {
  const both = await analyzed(session({ journal: 0.9 }, { profile: { primary: ['warm', 'cpuWarm'] } }));
  expect(both.analysis.conclusions.map((one) => [one.metric, one.basis, one['family']])).toEqual([
    ['warm', 'wall', 2],
    ['cpuWarm', 'cpu', 2],
  ]);
  const shared = await analyzed(session({ journal: 0.9 }, { facts: { cpuSet: 'shared' } }));
  expect(shared.analysis.gate).toBe('cpu');
  expect(shared.analysis.conclusions.map((one) => one.metric)).toEqual(['warm']);
  expect(shared.stderr).toMatch(
    /^journal is .* % faster \(.*wall.*\)\n {2}journal measures .* % faster on cpuWarm \(.*CPU, this session, 12 rounds\), not a primary metric\n\n/,
  );
});

test('a primary metric that was not measured can’t be told, and says why', async () => {
  const { analysis, exit } = await analyzed(
    session({}, { profile: { primary: ['cpuSeconds'] } }),
    '--fail-on',
    'not-faster',
  );
  expect(exit).toBe(4);
  expect(analysis.conclusions[0]).toMatchObject({
    conclusion: 'cant-tell',
    reason: 'no round has a value of both',
  });
});

describe('the control', () => {
  test('that is the same stands beside each conclusion', async () => {
    const { analysis, stderr } = await analyzed(session({ journal: 0.9 }, { targets: AA }));
    expect(words(analysis)).toEqual(['faster']);
    expect(analysis.conclusions[0]!['control']).toMatchObject({ differs: false });
    expect(stderr).toMatch(
      /^journal is .*\n {2}sqlite-control, the same program as sqlite, looks 0\.\d+ % (faster|slower) \(95 %: .*\)\n\n/,
    );
  });

  test('that differs leaves nothing to be told, and is a doubt', async () => {
    const { analysis, stderr, exit } = await analyzed(
      session({ journal: 0.9, 'sqlite-control': 1.1 }, { targets: AA }),
      '--fail-on',
      'cant-tell',
    );
    expect(exit).toBe(4);
    expect(words(analysis)).toEqual(['cant-tell']);
    expect(analysis.doubts.map((one) => one.name)).toContain('control');
    expect(stderr).toContain("doubt 'control': warm of sqlite-control at 50 turns differs from sqlite");
  });
});

describe('--fail-on', () => {
  test.each<[number, string, number]>([
    [0.9, 'slower', 0],
    [1, 'slower', 0],
    [1.1, 'slower', 4],
    [0.9, 'not-faster', 0],
    [1, 'not-faster', 4],
    [1.1, 'not-faster', 4],
    [1.1, 'cant-tell', 0],
    [1.1, 'cant-tell,slower', 4],
  ])('%d times as long, %s: %d', async (times, word, status) => {
    const { exit, analysis, stderr } = await analyzed(session({ journal: times }), '--fail-on', word);
    expect({ exit, inFile: analysis.exit, judged: analysis.judged }).toEqual({
      exit: status as never,
      inFile: status as never,
      judged: true,
    });
    expect(analysis.settings.failOn).toEqual(word.split(',') as never);
    expect(stderr.includes(`judged, and bad: --fail-on ${word} is about 1 of 1 conclusion`)).toBe(
      status === 4,
    );
  });

  test('never from the tracker’s verdict', async () => {
    const { exit, analysis } = await analyzed(
      session({ journal: 1.08 }, {}, 0.05),
      '--max-cv',
      '9',
      '--fail-on',
      'slower',
    );
    expect([exit, analysis.comparisons[0]!.verdicts['warm']]).toEqual([0, 'lose']);
  });

  test('a comparison that noise refused ends with 3, concludes nothing and keeps its doubts', async () => {
    const drifting: Partial<Made> = {
      sample: (target, _, round) => ({
        turn: [9, ...Array(3).fill(target === 'journal' ? 10 + round : 10 + (round % 2))],
      }),
    };
    const { exit, analysis } = await analyzed(
      madeLog({ rounds: 12, ...drifting }),
      '--max-cv',
      '0.01',
      '--fail-on',
      'not-faster',
    );
    expect([exit, analysis.conclusions, analysis.shown]).toEqual([3, [], []]);
    expect(analysis.doubts.map((one) => one.name)).toContain('drift');
  });

  test('has nothing to say about a calibration, and takes no other words', async () => {
    const calibration = await analyzed(madeLog({ mode: 'calibrate' }), '--fail-on', 'slower');
    expect(calibration.exit).toBe(2);
    expect(calibration.stderr).toContain(
      "this run is a calibration: it concludes nothing that '--fail-on' could be about",
    );
    const other = await analyzed('', '--fail-on', 'lose');
    expect(other.stderr).toContain(
      "flag '--fail-on': expected a comma list, each slower, not-faster, cant-tell, found 'lose'",
    );
  });
});

const STOP_WHEN = { looks: [6, 9, 12], margin: 0.03, level: 0.05, seed: 1 };
const endedEarly = (facts: object): string =>
  session({ journal: 0.9 }, { rounds: 9, facts: { ...facts, rounds: 12 } }, 0.02);

test('a session that ended early is judged by its planned looks: a wider interval than of its rounds alone', async () => {
  const planned = await analyzed(endedEarly({ stopWhen: STOP_WHEN }));
  const alone = await analyzed(endedEarly({}));
  const widthOf = ({ analysis }: typeof planned): number =>
    Math.log(analysis.conclusions[0]!.high! / analysis.conclusions[0]!.low!);
  expect(planned.exit).toBe(0);
  expect(planned.analysis.conclusions[0]!.rounds).toBe(9);
  expect(widthOf(planned)).toBeGreaterThan(widthOf(alone));
  const wrong = await analyzed(endedEarly({ stopWhen: { ...STOP_WHEN, looks: [9, 6] } }));
  expect(wrong.exit).toBe(1);
  expect(wrong.stderr).toContain('stopWhen.looks: expected ascending looks');
});

/** The same rounds under other numbers; in both targets each has its own pace. */
const numbered = (number: (round: number) => number): string =>
  madeLog({
    rounds: 12,
    cpu: (_, __, round) => ({ sample: number(round) }),
    sample: (target, _, round) => {
      const pace = target === 'journal' ? 9 + round / 50 : 10 + ((round * 5) % 7) / 20;
      return { sample: number(round), turn: [9, pace, pace, pace] };
    },
  });

test('rounds are paired by their number, whatever a log calls them and in whatever order it has them', async () => {
  const plain = await analyzed(numbered((round) => round));
  const backwards = await analyzed(numbered((round) => 1000 - 7 * round));
  const { sentence, low, high } = plain.analysis.conclusions[0]!;
  expect(backwards.analysis.conclusions[0]).toMatchObject({ sentence, low, high });
});

test('the same log gives the same bytes', async () => {
  const log = session({ journal: 0.97 }, { targets: AA, rounds: 20, turns: [50, 500] });
  expect((await analyzed(log)).stdout).toBe((await analyzed(log)).stdout);
});

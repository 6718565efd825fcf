/** Whole logs through the program: what is judged, what is refused, and with which words and status. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { type Analysis, analysis as analysisSchema } from '../../schemas/analysis.ts';
import { type Line, type Made, madeLog, sealed, sessionLines, TARGETS } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const example = resolve(import.meta.dir, '../../fixtures/example');

const analyzed = async (
  log: string,
  flags: string[] = [],
): Promise<{ exit: number; stderr: string; analysis: Analysis }> => {
  const { exit, stdout, stderr } = await runTool(main, ['--log', '-', ...flags], { stdin: log });
  if (exit === 1 || exit === 2) expect(stdout).toBe('');
  return { exit, stderr, analysis: stdout === '' ? ({} as Analysis) : (JSON.parse(stdout) as Analysis) };
};

const other = (target: string, change: Line) => (one: string) => (one === target ? change : {});

/** A done line that counts what stands before it. */
const recounted = (lines: Line[]): Line[] => {
  const count = (t: string): number => lines.filter((one) => one['t'] === t).length;
  const counts = { seeds: count('seed'), samples: count('sample') };
  return lines.map((one) => (one['t'] === 'done' ? { ...one, ...counts } : one));
};

const wobble = (of: string, parts: (wild: number) => Line): Partial<Made> => ({
  sample: (target, _, round) => (target === of ? parts(1 + (round % 2)) : {}),
});

const gate = async (cpuSet: string, flags: string[] = []) =>
  (await analyzed(madeLog({ facts: { cpuSet } }), flags)).analysis.gate;
expect(await gate('exclusive')).toBe('wall');

describe('the example', () => {
  const log = readFileSync(join(example, 'pod.log'), 'utf8');

  test('has the noise that was computed by hand, to the last digit', async () => {
    const { exit, analysis } = await analyzed(log, ['--json']);
    expect(exit).toBe(0);
    expect(analysis.noise).toEqual(JSON.parse(readFileSync(join(example, 'expected-noise.json'), 'utf8')));
    expect(analysis.gate).toBe('wall');
    expect(v.is(analysisSchema, analysis)).toBe(true);
  });

  test('is the same in the same bytes, with and without tables', async () => {
    const [one, two] = [
      await runTool(main, ['--log', '-', '--json'], { stdin: log }),
      await runTool(main, ['--log', join(example, 'pod.log'), '--out', '-']),
    ];
    expect(one.stdout).toBe(two.stdout);
    expect(one.stderr).toBe('');
    expect(two.stderr).toContain(
      "store at 500 turns: 'journal' against 'sqlite', 5 samples each, net of 'memory'",
    );
    expect(two.stderr).toMatch(/\nwarm +ms +11\.0 +11\.2 +11\.4 +19\.0 +19\.3 +19\.6 +0\.580 +win\n/);
    expect(two.stderr).toStartWith("can't tell at 50 turns: journal looks 1.7× faster");
    expect(two.stderr).toMatch(
      /\njudged\ndoubt 'throttled': 2 of 30 samples were held back by the CPU quota for more than 2 % of their time\n$/,
    );
  });
});

describe('like for like: a difference is exit 1', () => {
  test.each<[string, Partial<Made> | string, string]>([
    [
      'a seed line missing',
      { seed: (target) => (target === 'journal' ? null : {}) },
      "'journal' at 50 turns: expected 1 seed lines, found 0",
    ],
    [
      'a seed line twice',
      sealed(recounted(sessionLines().flatMap((one) => (one['t'] === 'seed' ? [one, one] : [one])))),
      "'sqlite' at 50 turns: expected 1 seed lines, found 2",
    ],
    [
      'a seed line of a floor',
      sealed(
        recounted(
          sessionLines({ targets: [...TARGETS, { name: 'memory', role: 'floor' }] }).flatMap((one) =>
            one['t'] === 'seed' && one['target'] === 'sqlite' ? [one, { ...one, target: 'memory' }] : [one],
          ),
        ),
      ),
      "'memory' at 50 turns: expected 0 seed lines, found 1",
    ],
    [
      'a fingerprint that the profile does not have',
      { profile: { fingerprints: { '50': 'pinned' } } },
      "'journal' at 50 turns: the seed has fingerprint 'seed-50', the profile wants 'pinned'",
    ],
    [
      'seeds that differ',
      { seed: other('journal', { fingerprint: 'zz' }) },
      "seeds at 50 turns differ: 'zz' of 'journal', 'seed-50' of 'sqlite'",
    ],
    [
      'transcripts that differ',
      { sample: other('journal', { fingerprint: 'zz' }) },
      "measured transcripts at 50 turns differ: 'zz' of 'journal', 'transcript-50' of 'sqlite'",
    ],
    [
      'a control that did other work',
      {
        targets: [...TARGETS, { name: 'again', role: 'control' }],
        seed: other('again', { fingerprint: 'zz' }),
      },
      "'zz' of 'again'",
    ],
    [
      'a transcript that is not always told',
      {
        sample: (target, _, round) => (target === 'journal' && round === 2 ? { fingerprint: undefined } : {}),
      },
      "'journal' at 50 turns: 1 of 4 samples have no fingerprint",
    ],
    [
      'a sample missing',
      { sample: (target, _, round) => (target === 'journal' && round === 2 ? null : {}) },
      "found 3 of 'journal', 4 of 'sqlite'",
    ],
    ['no samples', { sample: () => null }, "found 0 of 'journal', 0 of 'sqlite'"],
    [
      'a round twice',
      { sample: (_, __, round) => ({ sample: round === 3 ? 1 : round }) },
      "'journal' at 50 turns: round 1 stands more than once",
    ],
    [
      'another machine in the middle',
      { sample: (_, __, round) => (round > 1 ? { gomaxprocs: 4 } : {}) },
      'more than one node type within a session',
    ],
  ])('%s', async (_, made, says) => {
    const { exit, stderr } = await analyzed(typeof made === 'string' ? made : madeLog(made));
    expect(stderr).toContain(says);
    expect(stderr).toContain('stdin: ');
    expect(exit).toBe(1);
  });

  test('all of them are told at once', async () => {
    const { stderr } = await analyzed(
      madeLog({
        turns: [50, 500],
        seed: (target) => ({ fingerprint: target }),
        sample: (_, __, round) => (round ? {} : null),
      }),
    );
    expect(stderr.match(/seeds at \d+ turns differ/g)).toHaveLength(2);
  });
});

describe('a log that nothing may be computed from is exit 1', () => {
  const lines = sessionLines();
  const at = (kind: string): number => lines.findIndex((one) => one['t'] === kind);
  const changed = (kind: string, change: Line): string =>
    sealed(lines.map((one, index) => (index === at(kind) ? { ...one, ...change } : one)));
  test.each<[string, string, string[]]>([
    ['a line missing', madeLog().split('\n').toSpliced(7, 1).join('\n'), ['stdin: lines are missing: seq 7']],
    ['the log twice', madeLog() + madeLog(), ['stands after the end line']],
    ['an altered number', madeLog().replace('"open":5,', '"open":4,'), ['its text was altered']],
    ['nothing', '', ['stdin: no line of a session in it']],
    [
      'a start-up that failed',
      '{"t":"error","message":"no bundle"}\n',
      ['stdin: the session never began: no bundle'],
    ],
    [
      'a session that failed',
      sealed([...lines.slice(0, 9), { t: 'error', message: 'seed of journal ended with 3' }]),
      ['stdin: the session failed: seed of journal ended with 3'],
    ],
    ['no done line', sealed(lines.slice(0, -1)), ['the session did not finish']],
    [
      'a sample gone before the log was sealed',
      sealed(
        lines.toSpliced(
          lines.findLastIndex((one) => one['t'] === 'sample'),
          1,
        ),
      ),
      ['its done line counts 2 seeds and 8 samples, found 2 and 7'],
    ],
    [
      'targets that are not those of the profile',
      changed('facts', { targets: ['journal', 'other'] }),
      ['stdin:1: targets: expected those of the profile, journal, sqlite, found ["journal","other"]'],
    ],
    [
      'a time that does not exist',
      changed('done', { at: '2026-02-30T03:04:05.000Z' }),
      ['at: expected a time that exists, found "2026-02-30T03:04:05.000Z"'],
    ],
    ['no pin line', sealed(lines.toSpliced(1, 1)), ['stdin: no pin line in it']],
    ['no facts', sealed(lines.slice(1)), ['a seed line before the facts']],
    [
      'a line that does not fit, by file, line and path',
      changed('sample', { turn: [1, -2], open: null }),
      [
        `stdin:${at('sample') + 1}: open: expected a finite number, found null`,
        'turn.1: expected a number ≥ 0, found -2',
      ],
    ],
    [
      'infinity',
      changed('sample', {}).replace('"open":5,', '"open":1e999,'),
      ['open: expected a finite number, found Infinity'],
    ],
    [
      'a target of nobody',
      changed('sample', { target: 'x' }),
      ['target: expected a target that this session measures, found "x"'],
    ],
    [
      'a target with an endless name',
      changed('sample', { target: 'x'.repeat(100_000) }),
      [`target: expected a target that this session measures, found "${'x'.repeat(76)}...`],
    ],
    ['a size of nobody', changed('seed', { turns: 7 }), ['turns: expected one of 50, found 7']],
    ['facts twice', sealed([lines[0]!, ...lines]), ['a second facts line']],
    [
      'two references',
      madeLog({ targets: [...TARGETS, { name: 'x', role: 'reference' }] }),
      ['expected exactly one reference, found 2'],
    ],
    [
      'a profile of another shape',
      changed('facts', { profileSpec: { name: 'a', rule: 'b', targets: [{ name: 'a', role: 'king' }] } }),
      ['profileSpec.targets.0.role: expected candidate, reference, floor or control'],
    ],
    [
      "a profile's metric that is no number",
      madeLog({
        profile: { metrics: [{ key: 'rows', unit: '1', better: 'lower' }] },
        sample: () => ({ rows: 'many' }),
      }),
      ['rows: expected a finite number ≥ 0, found "many"'],
    ],
  ])('%s', async (_, log, says) => {
    const { exit, stderr } = await analyzed(log);
    for (const one of says) expect(stderr).toContain(one);
    expect(exit).toBe(1);
  });

  test('many wrong lines are counted after twenty', async () => {
    const { stderr } = await analyzed(madeLog({ rounds: 40, sample: () => ({ open: -1 }) }));
    expect(stderr).toContain('stdin: 60 more lines');
  });

  test('a session that must not be judged is exit 5, with what was measured', async () => {
    const error = { t: 'error', message: 'the affinity changed', code: 'affinity-changed', invalid: true };
    const { exit, stderr, analysis } = await analyzed(sealed([...lines.slice(0, -4), error]));
    expect(exit).toBe(5);
    expect(stderr).toContain('the affinity changed');
    expect(analysis).toMatchObject({ judged: false, exit: 5, reasons: ['stdin: the affinity changed'] });
    expect(analysis.comparisons[0]!.verdicts).toEqual({});
    expect(v.is(analysisSchema, analysis)).toBe(true);
    expect((await analyzed(sealed([error]))).exit).toBe(5);
  });

  test('--allow-incomplete reads what is there and judges nothing', async () => {
    const cut = madeLog().split('\n').slice(0, 12).join('\n');
    const { exit, stderr, analysis } = await analyzed(cut, ['--allow-incomplete']);
    expect(exit).toBe(3);
    expect(analysis.judged).toBe(false);
    expect(analysis.incomplete!.join('\n')).toContain('stdin: it ends after seq 11, without its end line');
    expect(analysis.comparisons[0]).toMatchObject({ samples: 2, verdicts: {} });
    expect(stderr).toContain('an incomplete log is never judged');
    expect((await analyzed('', ['--allow-incomplete'])).exit).toBe(1);
    const whole = await analyzed(madeLog(), ['--allow-incomplete']);
    expect(whole).toMatchObject({ exit: 0, analysis: { judged: true } });
    expect(whole.analysis.incomplete).toBeUndefined();
    const beforePin = sealed([lines[0]!]).split('\n').slice(0, 1).join('\n');
    expect((await analyzed(beforePin, ['--allow-incomplete'])).exit).toBe(3);
  });
});

describe('the noise gate is exit 3', () => {
  test.each<[string, Partial<Made>, string[], string[]]>([
    [
      'noisy wall times',
      wobble('sqlite', (wild) => ({ turn: [40, 20 * wild, 20 * wild, 20 * wild] })),
      [],
      [
        "'sqlite' at 50 turns: warm varies too much from run to run: its CV is 38.5%, the limit is 5%",
        '--gate cpu',
      ],
    ],
    [
      'noisy CPU times',
      { cpu: (target, _, round) => (target === 'sqlite' ? { usageUsec: 1e5 * (1 + (round % 2)) } : {}) },
      ['--gate', 'cpu'],
      ["'sqlite' at 50 turns: cpu varies too much"],
    ],
    [
      'a CPU time nobody measured',
      { cpu: () => ({ usageUsec: null }) },
      [],
      ['cpu was not measured in every sample'],
    ],
    [
      'a missing cpu line',
      { cpu: (_, __, round) => (round === 1 ? null : {}) },
      [],
      ['cpu was not measured'],
    ],
    [
      'a CPU time of 0',
      { cpu: () => ({ usageUsec: 0 }) },
      [],
      ['cpu is 0 in every sample: it was not measured'],
    ],
    [
      'too few samples',
      { rounds: 2 },
      [],
      ['warm has 2 samples, and a CV needs at least 3', 'measure at least 3 rounds'],
    ],
    [
      'a turn alone, which is never warm',
      { sample: () => ({ turn: [3], turnCpu: [2] }) },
      [],
      ['warm was not measured in every sample'],
    ],
    [
      'a clock that scales',
      { pin: { fixedClock: false, governors: { '0': 'schedutil' } } },
      [],
      ["the measured cores of node 'node-a' scale their clock"],
    ],
    [
      "a profile's own gated metric",
      {
        profile: { metrics: [{ key: 'rows', unit: '1', better: 'lower', gated: true }] },
        sample: (_, __, round) => ({ rows: round }),
      },
      [],
      ["'sqlite' at 50 turns: rows varies too much"],
    ],
  ])('%s', async (_, made, flags, says) => {
    const { exit, stderr, analysis } = await analyzed(madeLog(made), flags);
    for (const one of says) expect(stderr).toContain(one);
    expect(stderr).toContain('not judged');
    expect(exit).toBe(3);
    expect(analysis).toMatchObject({ judged: false, exit: 3 });
    expect(analysis.comparisons.every((one) => Object.keys(one.verdicts).length === 0)).toBe(true);
  });

  test.each<[string, Partial<Made>, string[]]>([
    ["the candidate's noise", wobble('journal', (wild) => ({ open: 9 * wild })), []],
    [
      'wall times when CPU times are gated',
      wobble('sqlite', (wild) => ({ open: 9 * wild })),
      ['--gate', 'cpu'],
    ],
    [
      'wall times on shared cores',
      { ...wobble('sqlite', (wild) => ({ open: 9 * wild })), facts: { cpuSet: 'shared' } },
      [],
    ],
    ['a wider limit', wobble('sqlite', (wild) => ({ open: 9 * wild })), ['--max-cv', '50%']],
    [
      'what is not reported',
      { sample: () => ({ bytes: undefined, turnCpu: undefined, openCpu: undefined }) },
      [],
    ],
    ['a metric that is not gated', { sample: (_, __, round) => ({ peakRss: 10 + 90 * round }) }, []],
  ])('lets pass: %s', async (_, made, flags) => {
    const { exit, analysis } = await analyzed(madeLog(made), flags);
    expect(exit).toBe(0);
    expect(analysis.comparisons[0]!.verdicts['warm']).toBe('win');
  });

  test('auto is the wall gate on exclusive cores alone', async () => {
    expect(await gate('shared')).toBe('cpu');
    expect(await gate('shared', ['--gate', 'wall'])).toBe('wall');
    expect(await gate('exclusive', ['--gate', 'cpu'])).toBe('cpu');
  });
});

test('a control is held to like for like and otherwise not compared', async () => {
  const targets: Made['targets'] = [...TARGETS, { name: 'sqlite-control', role: 'control' }];
  const { exit, analysis } = await analyzed(madeLog({ targets }));
  expect(exit).toBe(0);
  expect(analysis.comparisons.map((one) => one.candidate)).toEqual(['journal']);
  expect(analysis.sessions[0]!.throttle).toHaveProperty('sqlite-control');
});

test('warm-up rounds and foreign lines never count; foreign ones are told', async () => {
  const lines = sessionLines();
  const warmups = lines
    .filter((one) => one['t'] === 'sample')
    .flatMap((one) => [{ ...one, t: 'warmup', turn: [999, 999], fingerprint: 'else' }]);
  const log = sealed([...lines.slice(0, 6), ...warmups, ...lines.slice(6)]).replaceAll(
    '\n{"t":"cpu"',
    '\nnoise\n{"t":"cpu"',
  );
  const { analysis, stderr } = await analyzed(log);
  expect(analysis.comparisons[0]).toEqual((await analyzed(madeLog())).analysis.comparisons[0]!);
  expect(analysis.sessions[0]!.foreignLines).toBe(10);
  expect(stderr).toContain('10 foreign lines in the log skipped');
});

test('an error line of somebody else, and rounds that ended early, are no failure', async () => {
  const lines = sessionLines();
  const stopped = [
    ...lines.slice(0, -1),
    { t: 'stop', reason: 'decided after 4 rounds', rounds: 4 },
    lines.at(-1)!,
  ];
  const log = sealed(stopped).replace('\n', '\n{"t":"error","message":"of a workload"}\n');
  const { exit, stderr, analysis } = await analyzed(log);
  expect(exit).toBe(0);
  expect(analysis.sessions[0]).toMatchObject({ foreignLines: 1, stopped: 'decided after 4 rounds' });
  expect(stderr).toContain("'k8sbench-cmp-made' stopped early, as planned: decided after 4 rounds");
});

test('medians under 1 ms are doubted, with the smallest', async () => {
  const { analysis, stderr } = await analyzed(
    madeLog({ sample: (target) => (target === 'journal' ? { open: 0.2, turn: [0.5, 0.25] } : {}) }),
  );
  expect(analysis.doubts).toEqual([
    {
      name: 'short-times',
      value: 0.25,
      threshold: 1,
      candidate: 'journal',
      turns: 50,
      sentence:
        "at 50 turns medians are under 1 ms: 'journal' warm 0.250 ms, 'journal' cold 0.700 ms; tracker lines hold one decimal, so measure more work per turn",
    },
  ]);
  expect(stderr).toContain("doubt 'short-times'");
  expect((await analyzed(madeLog())).analysis.doubts).toEqual([]);
});

test.each<[string, string[], string]>([
  ['nothing named', [], "name a run with '--run DIR' or a log with '--log FILE'"],
  ['both named', ['--run', 'x', '--log', 'y'], "'--run' and '--log' exclude each other"],
  ['a limit of 0', ['--log', 'x', '--max-cv', '0'], "flag '--max-cv'"],
  ['an endless limit', ['--log', 'x', '--max-cv', 'Infinity'], "flag '--max-cv'"],
  ['a gate of nobody', ['--log', 'x', '--gate', 'all'], "flag '--gate'"],
  ['a run that is not there', ['--run', 'gone'], "run directory 'gone' does not exist"],
])('%s is exit 2', async (_, flags, says) => {
  const { exit, stdout, stderr } = await runTool(main, flags);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain(says);
});

test('a log that is not there is exit 1', async () => {
  const { exit, stderr } = await runTool(main, ['--log', '/nowhere/pod.log']);
  expect(exit).toBe(1);
  expect(stderr).toContain("'/nowhere/pod.log': it does not exist");
});

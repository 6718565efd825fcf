/** Run directories through the program: which files come, stay and go, and what is not done twice. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Doubt } from '../../schemas/analysis.ts';
import { FORMATS } from '../../schemas/formats.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText, problemsOf } from '../../shared/read.ts';
import { type Made, madeLog, sealed, sessionLines } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-analyze-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;
/** An out directory with one run in it. */
const place = (log: string, files: Record<string, unknown> = {}): string => {
  const run = join(scratch, String(places++), 'out', 'run');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'pod.log'), log);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(run, name, '..'), { recursive: true });
    writeFileSync(join(run, name), typeof content === 'string' ? content : jsonText(content));
  }
  return run;
};
const analyze = (run: string, ...flags: string[]) => runTool(main, ['--run', run, ...flags]);
const text = (run: string, name: string): string => readFileSync(join(run, name), 'utf8');
const json = (run: string, name: string) => JSON.parse(text(run, name));
const contents = (run: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(run)
      .filter((name) => statSync(join(run, name)).isFile())
      .map((name) => [name, text(run, name)]),
  );
const attempts = (run: string): { outcome: string; exit: number; run: string }[] =>
  existsSync(join(run, '../attempts.jsonl'))
    ? text(run, '../attempts.jsonl')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

const noisy: Partial<Made> = { sample: (_, __, round) => ({ open: 9 + 9 * (round % 2) }) };
const plan = (more: object) => ({
  format: 'run/1',
  run: 'k8sbench-cmp-made',
  mode: 'compare',
  planned_at: '2026-01-02T03:04:05.000Z',
  delivery: 'local',
  profile: 'store',
  rule: 'store',
  turns: [50],
  rounds: 4,
  gate: 'auto',
  maxCv: 0.05,
  files: {},
  inputsSha256: '0'.repeat(64),
  ...more,
});

const endedAt = (run: string, hour: number, made: Partial<Made> = {}): string =>
  sealed(
    sessionLines({ run, ...made }).map((one) =>
      one['t'] === 'done' ? Object.assign({}, one, { at: `2026-01-02T${hour}:00:00.000Z` }) : one,
    ),
  );

const children = (logs: string[], more: object = {}) => {
  const names = logs.map((_, at) => `k8sbench-cmp-made-n${at + 1}`);
  const files: Record<string, unknown> = {
    'spread.json': {
      format: 'spread/1',
      run: 'k8sbench-cmp-made',
      over: 'nodes',
      children: names.map((run) => ({
        run,
        dir: run,
        outcome: 'done',
      })),
      ...more,
    },
  };
  for (const [at, log] of logs.entries()) files[`${names[at]}/pod.log`] = log;
  const run = place('', files);
  rmSync(join(run, 'pod.log'));
  return run;
};

const session = (at: number, made: Partial<Made> = {}): string =>
  madeLog({
    run: `k8sbench-cmp-made-n${at}`,
    ...made,
    facts: { node: `node-${at}`, ...made.facts },
  });

const pace = (wanted: number): Partial<Made> => ({
  sample: (target) => (target === 'journal' ? { turn: [9, wanted, wanted] } : {}),
  cpu: (target) => (target === 'journal' ? { nrThrottled: 1, throttledUsec: 5 } : {}),
});

test('is judged by medians over them; turns and throttling add up', async () => {
  const run = children([session(1, pace(11)), session(2, pace(40)), session(3, pace(12))]);
  const { exit, stderr, stdout } = await analyze(run);
  expect(stderr).toContain('median over 3 sessions on node-1, node-2, node-3');
  expect([exit, stdout]).toEqual([0, `${run}\n`]);
  const analysis = json(run, 'analysis.json');
  expect(analysis.run).toBe('k8sbench-cmp-made');
  expect(analysis.sessions.map((one: { node: string }) => one.node)).toEqual(['node-1', 'node-2', 'node-3']);
  expect(analysis.comparisons[0]).toMatchObject({
    warmTurns: 3 * 4 * 2,
    samples: 12,
    values: { warm: 12 },
  });
  expect(analysis.comparisons[0].throttle.journal).toMatchObject({
    samples: 12,
    throttledSamples: 12,
    throttledUsec: 60,
  });
  expect(Object.keys(analysis.inputs).toSorted()).toEqual([
    ...[1, 2, 3].map((at) => `k8sbench-cmp-made-n${at}/pod.log`),
    'spread.json',
  ]);
  expect(text(run, 'results.jsonl').match(/"run":"k8sbench-cmp-made-n2"/g)).toHaveLength(8);
  expect(text(run, 'ENV.txt').match(/^run:/gm)).toHaveLength(3);
  expect(attempts(run)).toHaveLength(1);
  expect((await analyze(run)).stderr).toContain('already');
});

describe('a judged comparison', () => {
  test('writes its files, each by its schema, and prints the path', async () => {
    const run = place(madeLog());
    const { exit, stdout } = await analyze(run);
    expect([exit, stdout]).toEqual([0, `${run}\n`]);
    expect(readdirSync(run).toSorted()).toEqual(
      ['ENV.txt', 'analysis.json', 'noise.json', 'pod.log', 'results.jsonl', 'seeds.jsonl'].toSorted(),
    );
    const records = {
      analysis: [json(run, 'analysis.json')],
      noise: [json(run, 'noise.json')],
      results: text(run, 'results.jsonl')
        .trimEnd()
        .split('\n')
        .map((one) => JSON.parse(one)),
      seeds: text(run, 'seeds.jsonl')
        .trimEnd()
        .split('\n')
        .map((one) => JSON.parse(one)),
      attempts: attempts(run),
    };
    for (const [name, all] of Object.entries(records)) {
      expect(all.length).toBeGreaterThan(0);
      expect(all.flatMap((value) => problemsOf(FORMATS[name]!.schema, { value }, name))).toEqual([]);
    }
    expect(records.results).toHaveLength(8);
    expect(records.analysis[0].inputs).toEqual({ 'pod.log': sha256(madeLog()) });
    for (const [name, digest] of Object.entries(records.analysis[0].outputs))
      expect(sha256(text(run, name))).toBe(digest as string);
    expect(text(run, 'ENV.txt')).toContain('GOMAXPROCS:     2\n');
  });

  test('is done once; again it is only made newer', async () => {
    const run = place(madeLog());
    await analyze(run);
    const before = contents(run);
    for (const name of Object.keys(before)) utimesSync(join(run, name), 1000, 1000);
    const { exit, stdout, stderr } = await analyze(run);
    expect([exit, stdout]).toEqual([0, `${run}\n`]);
    expect(stderr).toContain('is analyzed already');
    expect(stderr).toEndWith('\njudged\n');
    expect(contents(run)).toEqual(before);
    for (const name of Object.keys(before))
      expect([name, statSync(join(run, name)).mtimeMs > 1e9]).toEqual([name, name !== 'pod.log']);
    expect((await analyze(run, '--json')).stdout).toBe(before['analysis.json']!);
  });

  test('is done again with --force, to the same bytes and the same single attempt', async () => {
    const run = place(madeLog());
    await analyze(run);
    const before = contents(run);
    expect((await analyze(run, '--force')).stderr).not.toContain('already');
    expect(contents(run)).toEqual(before);
    expect(attempts(run)).toHaveLength(1);
  });

  test.each<[string, (run: string) => string[]]>([
    ['another limit', () => ['--max-cv', '0.2']],
    ['another gate', () => ['--gate', 'cpu']],
    ['a changed output', (run) => (writeFileSync(join(run, 'ENV.txt'), 'mine'), [])],
    ['a missing output', (run) => (rmSync(join(run, 'results.jsonl')), [])],
    ['an output of another kind', (run) => (writeFileSync(join(run, 'calibration.json'), '{}'), [])],
    ['a damaged analysis', (run) => (writeFileSync(join(run, 'analysis.json'), '{'), [])],
    ['another log', (run) => (writeFileSync(join(run, 'pod.log'), madeLog({ rounds: 5 })), [])],
  ])('is done again after %s', async (_, change) => {
    const run = place(madeLog());
    await analyze(run);
    const flags = change(run);
    const { exit, stderr } = await analyze(run, ...flags);
    expect(exit).toBe(0);
    expect(stderr).not.toContain('already');
    expect(readdirSync(run)).not.toContain('calibration.json');
    expect((await analyze(run, ...flags)).stderr).toContain('already');
  });
});

describe('a run that is not judged', () => {
  test('says why in noise.json and the attempts, and prints its path all the same', async () => {
    const run = place(madeLog(noisy));
    const { exit, stdout } = await analyze(run);
    expect([exit, stdout]).toEqual([3, `${run}\n`]);
    expect(json(run, 'noise.json')).toMatchObject({ judged: false, gate: 'wall', maxCv: 0.05 });
    expect(json(run, 'noise.json').reasons[0]).toContain("'sqlite' at 50 turns: cold varies too much");
    expect(attempts(run)).toMatchObject([{ outcome: 'refused', exit: 3 }]);
    expect((await analyze(run)).exit).toBe(3);
    expect(json(run, 'analysis.json').earlierAttempts).toEqual({ total: 0, refused: 0, void: 0 });
  });

  test('and then is, with another limit: the refusal is told', async () => {
    const run = place(madeLog(noisy));
    await analyze(run);
    const { exit, stderr } = await analyze(run, '--max-cv', '0.9');
    expect(exit).toBe(0);
    expect(stderr).toContain("doubt 'attempts': 1 earlier attempt was refused or void");
    expect(attempts(run).map((one) => one.outcome)).toEqual(['refused', 'judged']);
    expect(json(run, 'analysis.json').earlierAttempts).toEqual({ total: 1, refused: 1, void: 0 });
    expect((await analyze(run, '--max-cv', '0.01')).exit).toBe(3);
    expect(json(run, 'analysis.json').earlierAttempts).toEqual({ total: 0, refused: 0, void: 0 });
    await analyze(run, '--max-cv', '0.9');
    expect(json(run, 'analysis.json').earlierAttempts).toEqual({ total: 2, refused: 2, void: 0 });
  });

  test('leaves no outputs that no longer hold: like for like', async () => {
    const run = place(madeLog());
    await analyze(run);
    writeFileSync(join(run, 'pod.log'), madeLog({ seed: (target) => ({ fingerprint: target }) }));
    const { exit, stdout } = await analyze(run);
    expect([exit, stdout]).toEqual([1, '']);
    expect(readdirSync(run).toSorted()).toEqual(['ENV.txt', 'pod.log', 'results.jsonl', 'seeds.jsonl']);
    expect(text(run, 'seeds.jsonl')).toContain('"fingerprint":"journal"');
    expect(attempts(run).map((one) => one.outcome)).toEqual(['judged', 'failed']);
  });

  test('leaves no outputs that no longer hold: a log that is not whole', async () => {
    const run = place(madeLog());
    await analyze(run);
    writeFileSync(join(run, 'pod.log'), madeLog().slice(0, -30));
    expect((await analyze(run)).exit).toBe(1);
    expect(readdirSync(run)).toEqual(['pod.log']);
    expect((await analyze(run, '--allow-incomplete')).exit).toBe(3);
    expect(readdirSync(run)).not.toContain('noise.json');
    expect(attempts(run)).toHaveLength(1);
  });

  test.each([{ mode: 'compare' }, { mode: 'calibrate' }] as const)(
    'draws its samples in a wide terminal, done now or before: %p',
    async (made) => {
      const run = place(madeLog({ rounds: 12, ...made }));
      const shown = (columns?: number) =>
        runTool(main, ['--run', run], {
          env: { NO_COLOR: '1' },
          ...(columns === undefined ? {} : { columns }),
        });
      const legend = made.mode === 'compare' ? '▀ journal ▄ sqlite' : 'samples of sqlite';
      expect((await shown(200)).stderr).toContain(legend);
      expect((await shown(200)).stderr).toContain(legend);
      expect((await shown(60)).stderr).not.toContain(legend);
      expect((await shown()).stderr).not.toContain(legend);
    },
  );

  test('leaves no page that shows another analysis', async () => {
    const run = place(madeLog(), { 'report.html': 'a page' });
    await analyze(run);
    expect(existsSync(join(run, 'report.html'))).toBe(false);
    writeFileSync(join(run, 'report.html'), 'a page');
    expect((await analyze(run)).stderr).not.toContain('report.html');
    expect(existsSync(join(run, 'report.html'))).toBe(true);
    const { stderr } = await analyze(run, '--max-cv', '0.2');
    expect(stderr).toContain(`'${run}/report.html' showed the analysis before: removed`);
    expect(existsSync(join(run, 'report.html'))).toBe(false);
  });

  test('a wrong command line leaves everything as it is', async () => {
    const run = place(madeLog());
    await analyze(run);
    const before = contents(run);
    for (const flags of [
      ['--calibration', 'gone.json'],
      ['--max-cv', 'x'],
    ])
      expect((await analyze(run, ...flags)).exit).not.toBe(0);
    expect(contents(run)).toEqual(before);
  });

  test('a void one is exit 5: by its log, or by what the runner saw', async () => {
    const lines = sessionLines().slice(0, -1);
    const byLog = place(sealed([...lines, { t: 'error', message: 'cpuset changed', invalid: true }]));
    expect((await analyze(byLog)).exit).toBe(5);
    expect(attempts(byLog)).toMatchObject([{ outcome: 'invalid', exit: 5 }]);
    const job = {
      format: 'job/1',
      run: 'k8sbench-cmp-made',
      delivery: 'image',
      timeline: [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }],

      outcome: 'invalid',
      message: 'the admitted pod has other resources',
    };
    const byRunner = place(madeLog(), { 'job.json': job });
    const { exit, stdout, stderr } = await analyze(byRunner);
    expect([exit, stdout]).toEqual([5, `${byRunner}\n`]);
    expect(stderr).toContain('the admitted pod has other resources');
  });

  test('an interrupted one stays as it was', async () => {
    const run = place(madeLog());
    await analyze(run);
    const before = contents(run);
    const { exit, stdout } = await runTool(main, ['--run', run, '--force'], {
      interrupted: AbortSignal.abort(),
    });
    expect([exit, stdout]).toEqual([130, '']);
    expect(contents(run)).toEqual(before);
  });
});

describe('what stands around a log', () => {
  test('a plan says gate and limit, flags say otherwise', async () => {
    const run = place(madeLog(noisy), { 'run.json': plan({ maxCv: 0.9 }) });
    expect((await analyze(run)).exit).toBe(0);
    expect(json(run, 'analysis.json').settings).toMatchObject({ gate: 'auto', maxCv: 0.9 });
    expect((await analyze(run, '--max-cv', '0.05')).exit).toBe(3);
    const gated = place(madeLog(noisy), { 'run.json': plan({ gate: 'cpu' }) });
    expect((await analyze(gated)).exit).toBe(0);
  });

  test.each<[string, string, Record<string, unknown>, string]>([
    [
      'the log of another run',
      madeLog({ run: 'other' }),
      { 'run.json': plan({}) },
      "it is the log of run 'other'",
    ],
    [
      'a log that the session did not write',
      madeLog(),
      { 'MANIFEST.sha256': `${'0'.repeat(64)}  pod.log\n` },
      'MANIFEST.sha256 has another digest',
    ],
  ])('%s is refused', async (_, log, files, says) => {
    const { exit, stderr } = await analyze(place(log, files));
    expect(stderr).toContain(says);
    expect(exit).toBe(1);
  });

  test('no log, or half of one, says who writes it', async () => {
    const run = place('', { 'plan.json': {} });
    rmSync(join(run, 'pod.log'));
    expect((await analyze(run)).stderr).toContain("has no pod.log; 'run-session' writes it");
    writeFileSync(join(run, 'pod.log.partial'), madeLog().slice(0, 5000));
    expect((await analyze(run)).stderr).toContain('takes the session up again');
    expect((await analyze(run, '--allow-incomplete')).exit).toBe(3);
  });

  test('one that was imported says who judged it', async () => {
    const run = place(madeLog());
    await analyze(run);
    const imported = place('', { 'analysis.json': { ...json(run, 'analysis.json'), origin: 'imported' } });
    rmSync(join(imported, 'pod.log'));
    const { exit, stderr } = await analyze(imported);
    expect(exit).toBe(1);
    expect(stderr).toContain(`'${imported}' was imported, and 'k8sbench import' judged it`);
  });

  test('attempts before this one are told', async () => {
    const out = join(scratch, String(places++), 'out');
    const each = async (run: string, content: string) => {
      mkdirSync(join(out, run), { recursive: true });
      writeFileSync(join(out, run, 'pod.log'), content);
      return analyze(join(out, run));
    };
    await each('a', endedAt('a', 10, noisy));
    await each('b', endedAt('b', 11, noisy));
    const { exit, stderr } = await each('c', endedAt('c', 12));
    expect(exit).toBe(0);
    expect(json(join(out, 'c'), 'analysis.json').earlierAttempts).toEqual({ total: 2, refused: 2, void: 0 });
    expect(stderr).toContain("doubt 'attempts': 2 earlier attempts were refused or void");
  });
});

describe('a run of several sessions', () => {
  test('has one child that is analyzed alone without an attempt', async () => {
    const run = children([session(1), session(2)]);
    expect((await analyze(join(run, 'k8sbench-cmp-made-n1'))).exit).toBe(0);
    expect(existsSync(join(run, 'attempts.jsonl'))).toBe(false);
    expect(attempts(run)).toEqual([]);
  });

  test('a noisy node is outvoted; two are not', async () => {
    expect((await analyze(children([session(1), session(2, noisy), session(3)]))).exit).toBe(0);
    expect((await analyze(children([session(1, noisy), session(2, noisy), session(3)]))).exit).toBe(3);
  });

  test('is on exclusive cores when all of it is', async () => {
    const shared = { facts: { node: 'node-2', cpuSet: 'shared' } };
    const run = children([session(1), session(2, shared)]);
    await analyze(run);
    expect(json(run, 'analysis.json').gate).toBe('cpu');
  });

  test.each<[string, Partial<Made>, string]>([
    ['commit', { facts: { commit: 'ffff' } }, 'the sessions differ in their commit'],
    ['size list', { turns: [50, 500] }, 'the sessions differ in their size list'],
    ['mode', { mode: 'calibrate' }, 'the sessions differ in their mode'],
    ['profile', { facts: { profile: 'other' } }, 'the sessions differ in their profile'],
    ['profile behind the name', { profile: { about: 'other' } }, 'same name, other content'],
    [
      'transcripts',
      { sample: () => ({ fingerprint: 'zz' }) },
      "the sessions differ in their transcripts' fingerprints at 50 turns",
    ],
    [
      'seeds',
      { seed: () => ({ fingerprint: 'zz' }) },
      "the sessions differ in their seeds' fingerprints at 50 turns",
    ],
    [
      'node type',
      { seed: () => ({ cpuModel: 'Other CPU' }), sample: () => ({ cpuModel: 'Other CPU' }) },
      "the sessions differ in their node type: 'Synthetic CPU [avx avx2] GOMAXPROCS 2' in",
    ],
  ])('must be like for like: %s', async (_, made, says) => {
    const { exit, stderr } = await analyze(children([session(1), session(2, made)]));
    expect(stderr).toContain(says);
    expect(exit).toBe(1);
  });

  test.each<[string, object, string]>([
    [
      'a session that failed',
      { children: [{ run: 'k8sbench-cmp-made-n1', dir: 'k8sbench-cmp-made-n1', outcome: 'failed' }] },
      "session 'k8sbench-cmp-made-n1' of",
    ],
    ['no session', { children: [] }, 'lists no session'],
    [
      'a session elsewhere',
      { children: [{ run: 'x', dir: '../../etc', outcome: 'done' }] },
      "names '../../etc', outside the run directory",
    ],
    [
      'the wrong log in a place',
      { children: [{ run: 'other', dir: 'k8sbench-cmp-made-n1', outcome: 'done' }] },
      "it is the log of run 'k8sbench-cmp-made-n1', and this is run 'other'",
    ],
  ])('is refused with %s', async (_, more, says) => {
    const { exit, stderr } = await analyze(children([session(1)], more));
    expect(stderr).toContain(says);
    expect(exit).toBe(1);
  });

  test('one invalid session voids it', async () => {
    const error = { t: 'error', message: 'governor changed', invalid: true };
    const bad = sealed([...sessionLines({ run: 'k8sbench-cmp-made-n2' }).slice(0, 9), error]);
    const { exit, stderr } = await analyze(children([session(1), bad]));
    expect(stderr).toContain('governor changed');
    expect(exit).toBe(5);
  });
});

describe('what is asked wrongly, or can not be judged', () => {
  test.each([[['--fail-on', 'slower']], [['--calibration', 'CALIBRATION']]])(
    'a calibration asked %j stays as it was analyzed, whether a plan or its log says what it is',
    async (words) => {
      for (const name of [undefined, 'run.json']) {
        const run = join(scratch, String(places++), 'run');
        cpSync(join(import.meta.dir, '../../fixtures/runs/calibrated'), run, { recursive: true });
        if (name === undefined) rmSync(join(run, 'run.json'));
        expect((await analyze(run, '--force')).exit).toBe(0);
        writeFileSync(join(run, 'report.html'), 'a page');
        const before = contents(run);
        const calibration = join(run, 'calibration.json');
        const { exit, stdout } = await analyze(
          run,
          ...words.map((one) => (one === 'CALIBRATION' ? calibration : one)),
        );
        expect([exit, stdout]).toEqual([2, '']);
        expect(contents(run)).toEqual(before);
      }
    },
  );

  test('a Job that was submitted with an edited manifest is a doubt', async () => {
    const edited = ['spec.a: 0 became 3', 'b: 1 became 2', 'c: 1 became 2', 'd: 1 became 2'];
    const job = {
      format: 'job/1',
      run: 'r',
      delivery: 'image',
      timeline: [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }],
      outcome: 'done',
      exit: 0,
    };
    const doubts = async (manifest: object) => {
      const run = place(madeLog(), { 'job.json': { ...job, manifest } });
      const { stderr } = await analyze(run);
      const found = (json(run, 'analysis.json').doubts as Doubt[]).filter(
        (one) => one.name === 'edited-manifest',
      );
      return found.map((one) => [one.value, one.sentence, stderr.includes(one.sentence)]);
    };
    expect(await doubts({ sha256: '0'.repeat(64) })).toEqual([]);
    expect(await doubts({ sha256: '0'.repeat(64), edited })).toEqual([
      [
        4,
        'the Job was submitted with an edited manifest: spec.a: 0 became 3; b: 1 became 2; c: 1 became 2; and 1 more',
        true,
      ],
    ]);
  });

  test('a session that was invalid before it had a log: 5, and nothing stays of an earlier one', async () => {
    const run = place(madeLog());
    expect((await analyze(run)).exit).toBe(0);
    rmSync(join(run, 'pod.log'));
    const job = {
      format: 'job/1',
      run: 'r',
      delivery: 'image',
      timeline: [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }],
      outcome: 'invalid',
      exit: 5,
      message: 'the cluster changed the pod',
    };
    writeFileSync(join(run, 'job.json'), JSON.stringify(job));
    const { exit, stdout, stderr } = await analyze(run);
    expect([exit, stdout]).toEqual([5, `${run}\n`]);
    expect(stderr).toContain('must not be judged: the cluster changed the pod');
    expect(existsSync(join(run, 'analysis.json'))).toBe(false);
    for (const words of [['--json'], ['--out', '-']])
      expect(await analyze(run, ...words)).toMatchObject({ exit: 5, stdout: '' });
  });
});

test('a node that scales its clock is named once, however many sessions it ran', async () => {
  const scaling = (at: number, node: string): string =>
    session(at, { facts: { node }, pin: { fixedClock: false } });
  const run = children([scaling(1, 'a'), scaling(2, 'a'), scaling(3, 'b')]);
  expect((await analyze(run)).exit).toBe(3);
  const reasons = (json(run, 'analysis.json').reasons as string[]).filter((one) => one.includes('scale'));
  expect(reasons).toEqual(
    ['a', 'b'].map(
      (node) => `the measured cores of node '${node}' scale their clock: reported, never judged`,
    ),
  );
});

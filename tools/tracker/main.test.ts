/** `tracker append` and `tracker show` on real files. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { type TrackerLine, trackerLine } from '../../schemas/tracker.ts';
import { jsonText, problemsOf } from '../../shared/read.ts';
import { NOW, runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const example = resolve(import.meta.dir, '../../fixtures/example');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-tracker-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The example, analyzed once by the program itself: tools meet in files. */
const analyzed = join(scratch, 'analyzed');
mkdirSync(analyzed);
cpSync(join(example, 'pod.log'), join(analyzed, 'pod.log'));
const made = Bun.spawnSync([
  process.execPath,
  resolve(import.meta.dir, '../analyze/main.ts'),
  '--run',
  analyzed,
]);
const analysis = JSON.parse(readFileSync(join(analyzed, 'analysis.json'), 'utf8')) as Analysis;

let places = 0;
/** An out directory with one analyzed run, changed as asked. */
const place = (more: Partial<Analysis> = {}, files: Record<string, unknown> = {}): string => {
  const run = join(scratch, String(places++), 'out', 'k8sbench-cmp-x');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'analysis.json'), jsonText({ ...analysis, ...more }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(run, '..', name), typeof content === 'string' ? content : jsonText(content));
  return run;
};
/** A run.json as `plan` writes it. */
const planned = (more: object = {}): string =>
  jsonText({
    format: 'run/1',
    run: 'k8sbench-cmp-x',
    mode: 'compare',
    planned_at: '2026-01-02T03:04:05.000Z',
    delivery: 'local',
    profile: 'store',
    rule: 'store',
    turns: [50],
    rounds: 5,
    gate: 'auto',
    maxCv: 0.05,
    purpose: 'pr',
    files: {},
    inputsSha256: '0'.repeat(64),
    ...more,
  });
const append = (
  run: string,
  flags: string[] = [],
  now?: number,
): Promise<{ exit: number; stdout: string; stderr: string }> =>
  runTool(main, ['append', '--run', run, ...flags], now === undefined ? {} : { now });
const linesOf = (text: string): TrackerLine[] =>
  text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one) as TrackerLine);
const history = readFileSync(join(example, 'history.jsonl'), 'utf8');

const shown = (path: string, ...flags: string[]) => runTool(main, ['show', '--track', path, ...flags]);
const track = async (): Promise<string> => {
  const run = place({}, { 'track.jsonl': history });
  await append(run, ['--baseline', join(example, 'baseline.json')]);
  return join(run, '../track.jsonl');
};

describe('append', () => {
  test('writes the lines of the example, keys in order, values equal', async () => {
    expect(made.exitCode).toBe(0);
    const run = place({}, { 'track.jsonl': history });
    const { exit, stdout, stderr } = await append(run, ['--baseline', join(example, 'baseline.json')]);
    expect([exit, stderr]).toEqual([0, '']);
    const expected = readFileSync(join(example, 'expected-track.jsonl'), 'utf8').trimEnd().split('\n');
    const found = linesOf(stdout);
    expect(found).toHaveLength(expected.length);
    for (const [at, { at: when, run: id, summary, more, ...line }] of found.entries()) {
      // As text: order and values in one comparison.
      expect(JSON.stringify(line)).toBe(JSON.stringify(JSON.parse(expected[at]!)));
      expect([when, id]).toEqual([new Date(NOW).toISOString(), 'k8sbench-cmp-x']);
      expect(summary).toContain(
        'on node-a, cores 0-1, cpuset exclusive, Synthetic CPU @ 2.00GHz [avx avx2 bmi2 popcnt] GOMAXPROCS 2;',
      );
      expect(more!.values).toEqual(analysis.comparisons[at]!.values);
    }
    for (const value of found) expect(problemsOf(trackerLine, { value }, 'line')).toEqual([]);
    expect(readFileSync(join(run, '../track.jsonl'), 'utf8')).toBe(history + stdout);
  });

  test('makes the history beside the run, or where it is told to', async () => {
    const run = place();
    const first = await append(run);
    expect(readFileSync(join(run, '../track.jsonl'), 'utf8')).toBe(first.stdout);
    const other = join(run, '../other.jsonl');
    await append(run, ['--track', other]);
    expect(readFileSync(other, 'utf8')).toBe(first.stdout);
    const piped = await runTool(main, ['append', '--run', '-', '--track', other], { stdin: `${run}\n` });
    expect(piped.exit).toBe(0);
  });

  test.each([false, true])(
    'of a run that was invalid before it had a log: 5 (an analysis of before: %p)',
    async (before) => {
      const run = place(
        { inputs: { 'pod.log': '0'.repeat(64) } },
        {
          'k8sbench-cmp-x/run.json': planned(),
          'k8sbench-cmp-x/job.json': {
            format: 'job/1',
            run: 'k8sbench-cmp-x',
            delivery: 'image',
            timeline: [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }],
            outcome: 'invalid',
            exit: 5,
            message: 'the cluster changed the pod',
          },
        },
      );
      if (!before) rmSync(join(run, 'analysis.json'));
      const { exit, stdout, stderr } = await append(run);
      expect([exit, stdout]).toEqual([5, '']);
      expect(stderr).toContain('gets no tracker line, it must not be judged: the cluster changed the pod');
      expect(existsSync(join(run, '../track.jsonl'))).toBe(false);
    },
  );

  test('again counts the run once, and itself never', async () => {
    const run = place({}, { 'track.jsonl': history });
    const first = await append(run);
    const again = await append(run, [], NOW + 5000);
    expect(linesOf(again.stdout).map((one) => one.compare)).toEqual(
      linesOf(first.stdout).map((one) => one.compare),
    );
    expect(readFileSync(join(run, '../track.jsonl'), 'utf8')).toBe(history + first.stdout + again.stdout);
    writeFileSync(join(run, 'analysis.json'), jsonText({ ...analysis, run: 'k8sbench-cmp-y' }));
    const next = linesOf((await append(run, [], NOW + 9000)).stdout)[0]!;
    // Old 20, 21, 22, the first run's 19.0 as written (once), and its own 19.0274.
    expect(next.compare['warm']).toMatchObject({ nRolling: 5, piRolling: 20 });
    expect(next.compare['cpuWarm']).toMatchObject({ nRolling: 2 });
  });

  test('takes histories that are named instead of the track file', async () => {
    const run = place({}, { 'track.jsonl': history, 'empty.jsonl': '' });
    const [one, two] = [join(run, '../track.jsonl'), join(run, '../empty.jsonl')];
    const warm = async (...flags: string[]) =>
      linesOf((await append(run, ['--track', join(run, '../new.jsonl'), ...flags])).stdout)[0]!.compare[
        'warm'
      ]!.nRolling;
    expect(await warm('--history', two)).toBe(1);
    expect(await warm('--history', two, '--history', one)).toBe(5);
    expect((await append(run, ['--history', join(run, 'gone.jsonl')])).exit).toBe(1);
  });

  test('repairs a torn last line by name, and never merges it', async () => {
    const torn = '{"at":"2026-01-01T00:00:09.000Z","rule":"store","turns":50,"run":"torn","values":{"piW';
    const run = place({}, { 'track.jsonl': history + torn });
    const { exit, stdout, stderr } = await append(run);
    expect(exit).toBe(0);
    expect(stderr).toContain(`ended in a line torn by a crash; its ${torn.length} bytes are in`);
    expect(readFileSync(join(run, '../track.jsonl'), 'utf8')).toBe(history + stdout);
    expect(readFileSync(join(run, '../track.jsonl.torn'), 'utf8')).toBe(`${torn}\n`);
    const whole = place({}, { 'track.jsonl': history.trimEnd() });
    const ended = await append(whole);
    expect(ended.stderr).toContain('ended without a newline; its last line is whole');
    expect(readFileSync(join(whole, '../track.jsonl'), 'utf8')).toBe(history + ended.stdout);
  });

  test('names broken lines elsewhere and goes on without them', async () => {
    const run = place({}, { 'track.jsonl': `${history.replace('"run": "old-5"', '"run": 5')}rubbish\n` });
    const { exit, stdout, stderr } = await append(run);
    expect(exit).toBe(0);
    expect(stderr).toMatch(/track\.jsonl:6: run: .*; the line is left out/);
    expect(stderr).toContain('track.jsonl:7: not a whole JSON line');
    // 18, 19, 20, 21 and its own 19.0274.
    expect(linesOf(stdout)[0]!.compare['warm']!.piRolling).toBe(19);
  });

  test('does not touch a file that is no history', async () => {
    const run = place({}, { 'notes.txt': 'dear diary', 'other.txt': 'line\nline\n' });
    for (const name of ['notes.txt', 'other.txt']) {
      const path = join(run, '..', name);
      const before = readFileSync(path, 'utf8');
      const { exit, stdout } = await append(run, ['--track', path]);
      expect([exit, stdout]).toEqual([1, '']);
      expect(readFileSync(path, 'utf8')).toBe(before);
    }
  });

  test('of a run that was not judged appends nothing and ends as its analysis did', async () => {
    for (const exit of [3, 5] as const) {
      const run = place({ judged: false, exit, reasons: ['warm is noisy'], advice: ['wait'] });
      const ended = await append(run);
      expect([ended.exit, ended.stdout]).toEqual([exit, '']);
      expect(ended.stderr).toContain('warm is noisy');
      expect(ended.stderr).toContain('what to do: wait');
      expect(existsSync(join(run, '../track.jsonl'))).toBe(false);
    }
  });

  test.each<[string, Partial<Analysis>, number, string]>([
    ['a calibration', { mode: 'calibrate', comparisons: [] }, 2, 'is a calibration'],
    ['nothing compared', { comparisons: [] }, 1, 'compared nothing'],
  ])('of %s is refused', async (_, more, status, says) => {
    const { exit, stdout, stderr } = await append(place(more));
    expect(stderr).toContain(says);
    expect([exit, stdout]).toEqual([status, '']);
  });

  test('of a session that was measured again, or is being measured, is refused', async () => {
    const run = place();
    const log = readFileSync(join(example, 'pod.log'), 'utf8');
    writeFileSync(join(run, 'pod.log'), log);
    const other = place({ inputs: { 'pod.log': '0'.repeat(64), 'n1/spread.json': '1'.repeat(64) } });
    writeFileSync(join(other, 'pod.log'), log);
    writeFileSync(join(other, 'run.json'), planned());
    const { exit, stdout, stderr } = await append(other);
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain('is of another pod.log and n1/spread.json than stands there now');
    writeFileSync(join(run, 'run.json'), planned());
    expect((await append(run)).exit).toBe(0);
    rmSync(join(run, 'pod.log'));
    expect((await append(run)).stderr).toContain('is of another pod.log than stands there now');
    rmSync(join(run, 'run.json'));
    expect((await append(run)).exit).toBe(0);
  });

  test('of one session of several is refused: the parent has the line', async () => {
    const run = place();
    cpSync(join(example, 'pod.log'), join(run, 'pod.log'));
    writeFileSync(join(run, 'run.json'), planned({ parent: 'k8sbench-cmp-whole' }));
    for (const flags of [[], ['--purpose', 'main']])
      expect((await append(run, flags)).stderr).toContain("is one session of 'k8sbench-cmp-whole'");
    writeFileSync(join(run, 'run.json'), planned());
    expect(linesOf((await append(run)).stdout)[0]!.more!.purpose).toBe('pr');
    expect(linesOf((await append(run, ['--purpose', 'main'])).stdout)[0]!.more!.purpose).toBe('main');
  });

  test('from many processes leaves whole lines', async () => {
    const run = place();
    const program = resolve(import.meta.dir, 'main.ts');
    const all = Array.from({ length: 8 }, () =>
      Bun.spawn([process.execPath, program, 'append', '--run', run], { stdout: 'pipe', stderr: 'pipe' }),
    );
    for (const one of all) expect([await one.exited, await new Response(one.stderr).text()]).toEqual([0, '']);
    expect(linesOf(readFileSync(join(run, '../track.jsonl'), 'utf8'))).toHaveLength(16);
  });
});

describe('baselines', () => {
  const several = {
    comparisons: analysis.comparisons.flatMap((one) => [
      { ...one, rule: 'store-a', candidate: 'a' },
      { ...one, rule: 'store-b', candidate: 'b' },
    ]),
  };
  const files = {
    'a.json': { core: 'aaaa', rule: 'store-a', warm: 11.0274 },
    'b.json': { core: 'bbbb', rule: 'store-b', warm: 1 },
    'plain.json': { core: 'plain', warm: 1 },
    'line.json': { rule: 'store', core: 'tttt', values: { warm: 22 }, delta: { warm: '+1%' } },
    'broken.json': { warm: [1] },
  };

  test.each<[string[]]>([[['a.json,b.json']], [['b.json', 'a.json']]])(
    '%j are matched by rule; each serves all sizes',
    async (given) => {
      const run = place(several, files);
      const flags = given.flatMap((one) => [
        '--baseline',
        one
          .split(',')
          .map((name) => join(run, '..', name))
          .join(','),
      ]);
      const found = linesOf((await append(run, flags)).stdout);
      expect(found.map((one) => [one.turns, one.rule, one.baseline, one.delta['warm']!.slice(0, 1)])).toEqual(
        [
          [50, 'store-a', 'aaaa', '+'],
          [50, 'store-b', 'bbbb', '+'],
          [500, 'store-a', 'aaaa', '-'],
          [500, 'store-b', 'bbbb', '+'],
        ],
      );
    },
  );

  test('one for one candidate needs no rule; a tracker line will do', async () => {
    const run = place({}, files);
    const one = linesOf((await append(run, ['--baseline', join(run, '../plain.json')])).stdout)[0]!;
    expect([one.baseline, one.delta['warm']]).toEqual(['plain', '+1003%']);
    const two = linesOf((await append(run, ['--baseline', join(run, '../line.json')])).stdout)[0]!;
    expect([two.baseline, two.delta['warm']]).toEqual(['tttt', '-50%']);
  });

  test.each<[string, Partial<Analysis>, string[], number, string]>([
    ['of another rule', {}, ['a.json'], 2, "is of rule 'store-a', this run of store"],
    ['two for one', {}, ['plain.json', 'line.json'], 2, "is a second one for rule 'store'"],
    [
      'without a rule for several',
      several,
      ['plain.json'],
      2,
      'names no rule, and this run has several: store-a, store-b',
    ],
    ['that does not fit', {}, ['broken.json'], 1, 'warm: expected a finite number'],
    ['that is not there', {}, ['gone.json'], 1, 'it does not exist'],
  ])('%s is refused', async (_, more, given, status, says) => {
    const run = place(more, files);
    const { exit, stderr } = await append(
      run,
      given.flatMap((one) => ['--baseline', join(run, '..', one)]),
    );
    expect(stderr).toContain(says);
    expect(exit).toBe(status);
    expect(existsSync(join(run, '../track.jsonl'))).toBe(false);
  });
});

describe('show', () => {
  test('is a table, newest last, of what counts', async () => {
    const path = await track();
    const { exit, stdout, stderr } = await shown(path);
    expect([exit, stderr]).toEqual([0, '']);
    const rows = stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(9);
    expect(rows[0]).toMatch(
      /^at +rule +turns +core +warm +ref +verdict +cold +ref +verdict +CPU warm +ref +verdict +delta +run$/,
    );
    expect(rows[1]).toMatch(/^2026-01-01 00:00 +store +50 +aaaa +17\.0 +30\.0 +old-0$/);
    expect(rows[7]).toMatch(
      /^2026-01-02 03:04 +store +50 +0123456789 +11\.0 +19\.0 +win +16\.4 +28\.4 +win +8\.4 +14\.0 +win +-4% +k8sbench-cmp-x$/,
    );
  });

  test('takes a rule, a size, the newest, and says what it left out', async () => {
    const path = await track();
    expect((await shown(path, '--turns', '500')).stdout.split('\n')).toHaveLength(3);
    expect(await shown(path, '--rule', 'other')).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('no such line'),
    });
    const { stdout, stderr } = await shown(path, '--last', '2');
    expect(stdout).not.toContain('old-5');
    expect(stderr).toContain('6 older lines; --last 8 shows all');
    appendFileSync(path, history.split('\n').slice(0, 2).join('\n') + '\nrubbish\n');
    const again = await shown(path);
    expect(again.stdout.split('\n')).toHaveLength(10);
    expect(again.stderr).toContain('2 older lines of runs that were reported again left out');
    expect(again.stderr).toContain('not a whole JSON line; the line is left out');
  });

  test('--json gives the lines as they stand', async () => {
    const path = await track();
    const { stdout } = await shown(path, '--json', '--last', '2');
    expect(stdout).toBe(readFileSync(path, 'utf8').split('\n').slice(-3).join('\n'));
  });

  test('a history that is not there is exit 1', async () => {
    const { exit, stdout, stderr } = await shown(join(scratch, 'gone.jsonl'));
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain('it does not exist');
  });
});

test.each<[string, string[], string]>([
  ['no verb', [], 'missing argument VERB'],
  ['a verb of nobody', ['forget'], 'append'],
  [
    "another verb's flag",
    ['show', '--run', 'x', '--purpose', 'main'],
    "'tracker show' takes no flag '--run'",
  ],
  ['no run', ['append'], "no run directory: name it with '--run DIR'"],
  ['a size of 0', ['show', '--turns', '0'], "flag '--turns'"],
  ['standard input as history', ['show', '--track', '-'], "flag '--track': expected a file's name"],
  ['standard output as history', ['append', '--track', '-'], "flag '--track': expected a file's name"],
  ['standard input as baseline', ['append', '--baseline', 'a,-'], "flag '--baseline'"],
])('%s is exit 2', async (_, args, says) => {
  const { exit, stdout, stderr } = await runTool(main, args);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain(says);
});

const jsonLines = (lines: readonly object[]): string =>
  lines.map((one) => `${JSON.stringify(one)}\n`).join('');

test('a reference that was another program within the rolling window is a doubt of the line, told once', async () => {
  const own = 'a'.repeat(64);
  const run = place({ identities: { ...analysis.identities, sqlite: { sha256: own } } });
  const [line] = linesOf((await append(run)).stdout);
  const before = (at: number, sha256?: string) => ({
    ...line!,
    run: `before-${at}`,
    at: `2025-01-0${at}T00:00:00.000Z`,
    more: { ...line!.more!, identities: { sqlite: sha256 === undefined ? {} : { sha256 } } },
  });
  const again = async (...lines: object[]) => {
    const identities = { ...analysis.identities, sqlite: { sha256: own } };
    const done = await append(place({ identities }, { 'track.jsonl': jsonLines(lines) }));
    const found = linesOf(done.stdout).find((one) => one.turns === line!.turns)!;
    return { ...done, doubts: found.more!.doubts };
  };
  const changed = await again(
    before(1, own),
    before(2, 'b'.repeat(64)),
    before(3),
    before(4, 'b'.repeat(64)),
  );
  expect(changed.doubts).toMatchObject([{ name: 'reference-changed', value: 2, threshold: 0 }]);
  expect(changed.stderr.match(/doubt 'reference-changed'/g)).toHaveLength(1);
  // Five runs ago is outside the window.
  const older = [5, 6, 7, 8].map((at) => before(at, own));
  expect((await again(before(1, 'b'.repeat(64)), ...older)).doubts).toBeUndefined();
});

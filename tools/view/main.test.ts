/** Pages as files: what is refused, what is done once, what goes where. How they look is test/browser's. */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FOUR, historyOf, noisy, runOf, sessionsOf } from '../../test/browser/made-runs.ts';
import { madeLog } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-view-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;
const place = (): string => join(scratch, String(places++), 'run');
const view = (...args: string[]) => runTool(main, args, { cwd: scratch });
const dataOf = (page: string) =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)![1]!);

describe('refused', () => {
  test.each<[string, string[], string]>([
    ['nothing to show', [], "nothing to show: name a run with '--run DIR', or a history with '--track FILE'"],
    ['both', ['--run', 'a', '--track', 'b'], "'--run' and '--track' exclude each other"],
    ['change points of no history', ['--run', 'a', '--changes', 'c'], "'--changes' belongs to a history"],
    ['a run that is not there', ['--run', 'nowhere'], "run directory 'nowhere' does not exist"],
  ])('%s', async (_, args, says) => {
    const { exit, stdout, stderr } = await view(...args);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });

  test('a run that was not analyzed: says which step is missing', async () => {
    const run = place();
    mkdirSync(run, { recursive: true });
    writeFileSync(join(run, 'run.json'), '');
    const { exit, stdout, stderr } = await view('--run', run);
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain("has no analysis.json; 'analyze' writes it: k8sbench analyze --run");
    expect(existsSync(join(run, 'report.html'))).toBe(false);
  });

  test('rows that are not those of the analysis', async () => {
    const run = await runOf(place(), noisy());
    writeFileSync(join(run, 'results.jsonl'), '');
    const { exit, stderr } = await view('--run', run);
    expect(exit).toBe(1);
    expect(stderr).toContain("results.jsonl' is not the one that analysis.json was written with");
  });

  test.each([
    ['a history that is not there', undefined, "can't read"],
    [
      'a file without a line of a history',
      '{"a":1}\nnothing\n',
      'has no line of a history; 2 lines are something else',
    ],
    ['an empty file', '', "has no line of a history; 'k8sbench tracker append' writes them"],
  ])('%s', async (_, content, says) => {
    const track = `${place()}.jsonl`;
    if (content !== undefined) {
      mkdirSync(join(track, '..'), { recursive: true });
      writeFileSync(track, content);
    }
    const { exit, stdout, stderr } = await view('--track', track);
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain(says);
  });

  test('change points of another format, by file and line', async () => {
    const track = join(scratch, 'with-changes.jsonl');
    writeFileSync(track, historyOf(3));
    const changes = join(scratch, 'changes.jsonl');
    writeFileSync(changes, '\n{"format":"change/2"}\n');
    const { exit, stderr } = await view('--track', track, '--changes', changes);
    expect(exit).toBe(1);
    expect(stderr).toContain(`${changes}:2: format: expected format "change/1"`);
  });
});

describe('a run', () => {
  test('gets its page once; other inputs, or --force, make it again', async () => {
    const run = await runOf(place(), noisy());
    const page = join(run, 'report.html');
    const first = await view('--run', run);
    expect([first.exit, first.stdout]).toEqual([0, `${run}\n`]);
    const text = readFileSync(page, 'utf8');
    writeFileSync(page, `${text}<!-- mine -->`);
    const again = await view('--run', run);
    expect([again.exit, again.stdout]).toEqual([0, `${run}\n`]);
    expect(again.stderr).toContain('is made already, from the same inputs; --force makes it again');
    expect(readFileSync(page, 'utf8')).toEndWith('<!-- mine -->');
    await view('--run', run, '--force');
    expect(readFileSync(page, 'utf8')).toBe(text);
    writeFileSync(join(run, 'ENV.txt'), 'node: other\n');
    await view('--run', run);
    expect(readFileSync(page, 'utf8')).not.toBe(text);
  });

  test('is printed instead with --out -, and its path may come from stdin', async () => {
    const run = await runOf(place(), noisy());
    const { exit, stdout } = await runTool(main, ['--run', '-', '--out', '-'], {
      cwd: scratch,
      stdin: `${run}\n`,
    });
    expect([exit, stdout.startsWith('<!doctype html>')]).toEqual([0, true]);
    expect(existsSync(join(run, 'report.html'))).toBe(false);
  });

  test('carries its samples in the order measured, with what the machine did around each', async () => {
    const run = await runOf(place(), noisy());
    await view('--run', run);
    const { analysis, series, metrics } = dataOf(readFileSync(join(run, 'report.html'), 'utf8'));
    expect(analysis).toEqual(JSON.parse(readFileSync(join(run, 'analysis.json'), 'utf8')));
    expect(metrics.map((one: { key: string }) => one.key)).toEqual([
      'warm',
      'cold',
      'cpuWarm',
      'cpuCold',
      'cpu',
      'peakRss',
      'bytes',
    ]);
    expect(series.map((one: { target: string; role: string }) => [one.target, one.role])).toEqual([
      ['journal', 'candidate'],
      ['sqlite', 'reference'],
    ]);
    const [{ rounds, values, readings }] = series;
    expect(rounds).toEqual([...Array(12).keys()]);
    expect(values.warm).toHaveLength(12);
    // Two processes a round, each of 50 + 5·round ms: they begin one after another.
    expect(readings.start_s.slice(0, 3)).toEqual([0, 0.1, 0.21]);
    expect(readings.throttled[3]).toBeCloseTo(0.9 / 65, 9);
    expect(readings.throttled[4]).toBe(0);
    expect(readings.steal[5]).toBeCloseTo(1.5 / 75, 9);
    expect(readings.mhz[1]).toBe(3010);
  });

  test('without readings has its samples all the same', async () => {
    const run = await runOf(place(), madeLog({ cpu: () => null }), '--max-cv', '9', '--gate', 'wall');
    await view('--run', run);
    const { series } = dataOf(readFileSync(join(run, 'report.html'), 'utf8'));
    expect(series[0].readings).toBeUndefined();
    expect(series[0].values.warm).toHaveLength(4);
  });

  test('of several sessions keeps them apart, by their nodes', async () => {
    const run = await sessionsOf(place(), 2);
    await view('--run', run);
    const { series } = dataOf(readFileSync(join(run, 'report.html'), 'utf8'));
    expect(series.map((one: { session: string }) => one.session)).toEqual([
      'node-0',
      'node-0',
      'node-1',
      'node-1',
    ]);
    expect(series.every((one: { readings?: object }) => one.readings !== undefined)).toBe(true);
  });

  test('has every number of the evidence: of a control, and of a few sessions', async () => {
    const texts = (run: string): string =>
      readFileSync(join(run, 'report.html'), 'utf8')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ');
    const [one, few] = [await runOf(place(), noisy({ targets: FOUR })), await sessionsOf(place(), 2)];
    for (const run of [one, few]) await view('--run', run);
    const { control, withinSd, detectable } = dataOf(readFileSync(join(one, 'report.html'), 'utf8')).analysis
      .conclusions[0];
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    expect(texts(one)).toContain(control.sentence);
    expect(texts(one)).toMatch(
      /metric candidate conclusion ratio 95 % from to p least p margin rounds detectable from round sd control/,
    );
    expect(texts(one)).toContain(
      ` 3 % 12 ${percent(detectable)} ${percent(withinSd)} ${control.low.toFixed(3)}–${control.high.toFixed(3)} `,
    );
    expect(texts(few).includes(' round sd session sd warm, node-0 journal ')).toBe(true);
  });

  test('says how many attempts came before', async () => {
    const run = place();
    mkdirSync(run, { recursive: true });
    const before = {
      format: 'attempt/1',
      profile: 'store',
      rule: 'store',
      commit: '0123456789abcdef',
      outcome: 'refused',
      exit: 3,
      reasons: [],
    };
    writeFileSync(
      join(run, '../attempts.jsonl'),
      `${JSON.stringify({ ...before, run: 'k8sbench-cmp-before', at: '2026-01-01T00:00:00.000Z' })}\n`,
    );
    await runOf(run, noisy());
    await view('--run', run);
    const page = readFileSync(join(run, 'report.html'), 'utf8').replace(/\s+/g, ' ');
    expect(page).toContain('Attempt 2 at this question: of 1 before it 1 was refused for noise and 0 void.');
  });
});

describe('a history', () => {
  test('has a run once, by its newest line, oldest first; other lines are counted', async () => {
    const track = join(scratch, 'history.jsonl');
    const lines = historyOf(3).trimEnd().split('\n');
    const again = lines[0]!.replace('"warm":8', '"warm":7.5').replace('2026-01-01T00', '2026-01-01T12');
    writeFileSync(track, [lines[2], lines[0], lines[1], again, 'torn'].join('\n'));
    const { exit, stdout } = await view('--track', track);
    expect([exit, stdout]).toEqual([0, `${join(scratch, 'history.html')}\n`]);
    const page = readFileSync(join(scratch, 'history.html'), 'utf8');
    const { series } = dataOf(page);
    expect(series).toHaveLength(1);
    expect(series[0].points.map((one: { run: string }) => one.run.at(-1))).toEqual(['0', '1', '2']);
    expect(series[0].points[0].at).toContain('T12');
    expect(page).toContain('1 line is no line of a history');
  });

  test('leaves out runs on the side where some are of purpose main, and shows all where none is', async () => {
    const track = join(scratch, 'purposes.jsonl');
    const [first, ...rest] = historyOf(3).trimEnd().split('\n');
    const aside = first!.replace('"purpose":"main"', '"purpose":"bisect","counted":"processes"');
    writeFileSync(track, [aside, ...rest].join('\n'));
    await view('--track', track);
    const page = readFileSync(join(scratch, 'purposes.html'), 'utf8');
    expect(dataOf(page).series[0].points).toHaveLength(2);
    expect(page).toContain('1 run of other purposes than main left out');
    writeFileSync(track, aside);
    await view('--track', track);
    const alone = readFileSync(join(scratch, 'purposes.html'), 'utf8');
    expect(dataOf(alone).series[0].points).toHaveLength(1);
    expect(alone).toContain('store at 50 processes a sample');
  });

  test('keeps kinds of machines apart', async () => {
    const track = join(scratch, 'machines.jsonl');
    writeFileSync(
      track,
      historyOf(2) + historyOf(2).replaceAll('Synthetic', 'Other').replaceAll('made-', 'other-'),
    );
    await view('--track', track);
    const { series } = dataOf(readFileSync(join(scratch, 'machines.html'), 'utf8'));
    expect(series.map((one: { nodeType: string }) => one.nodeType.split(' ')[0])).toEqual([
      'Synthetic',
      'Other',
    ]);
  });
});

/** What `export` prints, read by the programs that it is for. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'junit2json';
import * as v from 'valibot';
import type { Analysis } from '../../schemas/analysis.ts';
import { readAnalysis } from '../../shared/run-results.ts';
import { runDirectory } from '../../shared/rundir.ts';
import { main } from '../../tools/export/main.ts';
import { FOUR, noisy, runOf, sessionsOf } from '../browser/made-runs.ts';
import { runTool } from '../outside.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-exports-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const runs: Record<string, string> = {};
const analyses: Record<string, Analysis> = {};
const analysisOf = (name: string): Analysis => analyses[name]!;

const at = (name: string): string => join(scratch, name, 'run');

beforeAll(async () => {
  runs['judged'] = await runOf(at('judged'), noisy({ targets: FOUR, turns: [50, 500] }));
  runs['slower'] = await runOf(at('slower'), noisy({}, 0.01, 1.2));
  runs['refused'] = await runOf(at('refused'), noisy({}, 0.4));
  runs['sessions'] = await sessionsOf(at('sessions'), 2);
  runs['calibration'] = await runOf(at('calibration'), noisy({ mode: 'calibrate' }));
  for (const [name, run] of Object.entries(runs)) analyses[name] = await readAnalysis(runDirectory(run));
});

const exported = async (format: string, name: string): Promise<string> => {
  const { exit, stdout } = await runTool(main, [format, '--run', runs[name]!]);
  expect(exit).toBe(0);
  return stdout;
};

/** Runs another program; one that is missing is a failure that says what to install. */
const outside = (command: string[], input = ''): string => {
  if (Bun.which(command[0]!) === null)
    throw new Error(`'${command[0]}' is not there, and only it tells whether it reads this; install it`);
  const done = Bun.spawnSync(command, { stdin: Buffer.from(input), cwd: scratch });
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`);
  // The go command tells what it fetches; benchstat, which numbers never vary (bytes).
  expect(done.stderr.toString().replace(/^(go: .*|[A-Z]+\d+: all samples are equal)\n/gm, '')).toBe('');
  return done.stdout.toString();
};

const BENCHSTAT = 'golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da';

describe('benchstat', () => {
  test('reads samples with their units, configuration and directions, and finds our medians', async () => {
    const file = join(scratch, 'judged.bench');
    writeFileSync(file, await exported('benchfmt', 'judged'));
    const table = outside(['go', 'run', BENCHSTAT, '-col', 'target', '-format', 'csv', file]);
    for (const line of ['profile: store', 'rule: store', 'judged: yes', 'node: node-a', 'cpu: Synthetic CPU'])
      expect(table).toContain(line);
    const [, rows] = /^,warm-sec,.*\n((?:.+\n)+)/m.exec(table.replace(/\r/g, ''))!;
    const cells = rows!.split('\n').map((row) => row.split(','));
    const head = /^,((?:journal|sqlite|sqlite-control|memory),.*)$/m.exec(table)![1]!.split(',');
    for (const { turns, samples } of analysisOf('judged').comparisons) {
      const row = cells.find((one) => one[0] === `Store/turns=${turns}`)!;
      expect(samples).toBe(12);
      // Medians of samples' medians, against the pooled ones of the analysis: near, and in seconds.
      const [own, base] = ['journal', 'sqlite'].map((name) => Number(row[1 + head.indexOf(name)]));
      expect(own! / base!).toBeCloseTo(0.9, 1);
      expect(base!).toBeCloseTo(turns / 5000, 2);
    }
    expect(table).toContain('peak-rss-B');
  }, 120_000);

  test('knows which direction is worse', async () => {
    const file = join(scratch, 'slower.bench');
    writeFileSync(file, await exported('benchfmt', 'slower'));
    const table = outside(['go', 'run', BENCHSTAT, '-col', 'target', '-row', '.name', file]);
    expect(table).toMatch(/Store\s+\S+ ± +\d+%\s+\S+ ± +\d+%\s+[-+]\d+\.\d+% \(p=0\.000 n=12\)/);
  }, 120_000);

  test('reads sessions apart, and together when told to', async () => {
    const file = join(scratch, 'sessions.bench');
    writeFileSync(file, await exported('benchfmt', 'sessions'));
    const apart = outside(['go', 'run', BENCHSTAT, '-col', 'target', file]);
    expect(apart.match(/^run: k8sbench-cmp-made-n\d$/gm)).toHaveLength(2);
    const together = outside(['go', 'run', BENCHSTAT, '-col', 'target', '-ignore', 'run,node', file]);
    expect(together).toContain('n=24');
  }, 120_000);
});

const suiteOf = async (name: string) => {
  const xml = await exported('junit', name);
  outside(['python3', '-c', 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.stdin)'], xml);
  const found = (await parse(xml)) as {
    tests: number;
    failures: number;
    skipped: number;
    testsuite: any[];
  };
  expect(found.testsuite).toHaveLength(1);
  expect(found.testsuite[0].testcase).toHaveLength(found.tests);
  return { ...found, cases: found.testsuite[0].testcase as any[], suite: found.testsuite[0] };
};

describe('JUnit readers', () => {
  test('see a conclusion as a test that passed', async () => {
    const { tests, failures, cases, suite } = await suiteOf('judged');
    expect([tests, failures]).toEqual([2, 0]);
    expect(cases[0]).toMatchObject({ name: 'warm of journal at 50 turns', classname: 'k8sbench.store' });
    expect(JSON.stringify(cases[0])).toContain(analysisOf('judged').conclusions[0]!.sentence);
    expect(suite.hostname).toBe('node-a');
  });

  test('see a slower one as a failure with its sentence', async () => {
    const { failures, cases } = await suiteOf('slower');
    expect(failures).toBe(1);
    expect(cases[0].failure[0].message).toBe(analysisOf('slower').conclusions[0]!.sentence);
  });

  test('see a refused run skipped with the reason', async () => {
    const { tests, failures, skipped, cases } = await suiteOf('refused');
    expect([tests, failures, skipped]).toEqual([1, 0, 1]);
    expect(cases[0].skipped[0].message).toContain('varies too much from run to run');
  });

  test('see a calibration by its sizes', async () => {
    const { cases } = await suiteOf('calibration');
    expect(cases.map((one) => one.name)).toEqual(['noise at 50 turns']);
  });
});

test("Python's csv reads a row for each turn, and numbers where the header has units", async () => {
  const program = `
import csv, json, sys
rows = list(csv.DictReader(sys.stdin, strict=True))
numbers = [name for name in rows[0] if name.endswith('_ms') or name.endswith('_B') or name.endswith('_MiB')]
for row in rows:
  assert None not in row and None not in row.values()
  for name in numbers: row[name] = None if row[name] == '' else float(row[name])
print(json.dumps([len(rows), numbers, rows[0], sorted({row['target'] + ' ' + row['role'] for row in rows})]))`;
  const [count, numbers, first, targets] = JSON.parse(
    outside(['python3', '-c', program], await exported('csv', 'judged')),
  );
  expect(count).toBe(12 * 2 * 4 * 8);
  expect(numbers).toEqual(['open_ms', 'open_cpu_ms', 'peak_rss_MiB', 'bytes_B', 'wall_ms', 'cpu_ms']);
  expect(first).toMatchObject({
    target: 'journal',
    round: '1',
    turn: '1',
    turns: '50',
    judged: 'yes',
    node: 'node-a',
  });
  expect(first.cpu_ms).toBeCloseTo(0.8 * first.wall_ms, 9);
  expect(targets).toEqual([
    'journal candidate',
    'memory floor',
    'sqlite reference',
    'sqlite-control control',
  ]);
});

describe('formats by their documentation', () => {
  test('Bencher Metric Format', async () => {
    const metric = v.strictObject({
      value: v.pipe(v.number(), v.finite()),
      lower_value: v.optional(v.number()),
      upper_value: v.optional(v.number()),
    });
    const slug = v.pipe(v.string(), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/), v.maxLength(64));
    const bmf = v.record(v.pipe(v.string(), v.maxLength(1024)), v.record(slug, metric));
    const found = v.parse(bmf, JSON.parse(await exported('bencher', 'judged')));
    const [{ ratio, low, high }] = analysisOf('judged').conclusions as [Analysis['conclusions'][0]];
    expect(found['store/50/journal']!['warm-ratio']).toEqual({
      value: ratio!,
      lower_value: low!,
      upper_value: high!,
    });
    const [{ values }] = analysisOf('judged').comparisons as [Analysis['comparisons'][0]];
    expect(found['store/50/sqlite']!['warm-ms']).toEqual({ value: values['piWarm']! });
    expect(Object.keys(found)).toHaveLength(4);
  });

  test('github-action-benchmark, customSmallerIsBetter', async () => {
    const entry = v.strictObject({
      name: v.pipe(v.string(), v.minLength(1)),
      unit: v.string(),
      value: v.pipe(v.number(), v.finite()),
      range: v.optional(v.string()),
      extra: v.optional(v.string()),
    });
    const found = v.parse(v.array(entry), JSON.parse(await exported('github-action-benchmark', 'judged')));
    expect(new Set(found.map((one) => one.name)).size).toBe(found.length);
    const ratio = found.find((one) => one.name === 'store at 50 turns: journal warm over sqlite')!;
    expect(ratio).toMatchObject({ unit: 'ratio', extra: analysisOf('judged').conclusions[0]!.sentence });
    expect(ratio.range).toMatch(/^± \d/);
  });

  test("hyperfine's JSON has what its own scripts plot", async () => {
    const amount = v.pipe(v.number(), v.finite(), v.minValue(0));
    const result = v.strictObject({
      command: v.string(),
      mean: amount,
      stddev: v.nullable(amount),
      median: amount,
      min: amount,
      max: amount,
      times: v.pipe(v.array(amount), v.minLength(1)),
      parameters: v.record(v.string(), v.string()),
    });
    const { results } = v.parse(
      v.strictObject({ results: v.array(result) }),
      JSON.parse(await exported('hyperfine', 'judged')),
    );
    expect(results.map((one) => one.command).toSorted()).toContain('journal at 500 turns');
    for (const one of results) {
      expect(one.times).toHaveLength(12);
      expect(one.min <= one.median && one.median <= one.max).toBe(true);
      expect([Math.min(...one.times), Math.max(...one.times)]).toEqual([one.min, one.max]);
    }
  });

  test('Markdown, by a reader of GitHub’s', async () => {
    const page = Bun.markdown.html(await exported('markdown', 'slower'));
    expect(page).toContain('▼ slower');
    expect(page).toContain('<details><summary>Values</summary>');
    expect(page).toContain('<table>');
    expect(page.indexOf('Conclusions')).toBeLessThan(page.indexOf('<table>'));
    const refused = await exported('markdown', 'refused');
    expect(refused).toStartWith('## k8sbench <code>store</code>: not judged\n');
    expect(refused).toContain('**What to do**');
  });
});

/** Real files of the programs themselves, and what is refused. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { analysis as analysisSchema, type Analysis } from '../../schemas/analysis.ts';
import { resultLine } from '../../schemas/results.ts';
import { historyLine } from '../../schemas/tracker.ts';
import { sha256 } from '../../shared/files.ts';
import { problemsOf } from '../../shared/read.ts';
import { runTool } from '../../test/outside.ts';
import { FORMATS } from './formats.ts';
import { main } from './main.ts';

const fixtures = join(import.meta.dir, '../../fixtures/imports');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-import-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;

const place = (): string => join(scratch, String(places++));
const bring = (out: string, args: string[], stdin = '') =>
  runTool(main, [...args, '--out', out], { cwd: fixtures, stdin });
const read = (run: string) => {
  const text = (name: string): string => readFileSync(join(run, name), 'utf8');
  const analysis = JSON.parse(text('analysis.json')) as Analysis;
  const rows = text('results.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { text, analysis, rows };
};

/** Command line → reference, candidate, samples of both, what is judged, its unit, doubts that are always there. */
const REAL: [string, string[], [string, string, number, string, string, string[]]][] = [
  [
    'hyperfine',
    ['hyperfine.json', '--reference', 'sort -n data', '--candidate', 'sort data'],
    ['sort -n data', 'sort data', 15, 'time', 'ms', ['unpaired']],
  ],
  [
    'go-bench',
    ['go-old.txt', 'go-new.txt', '--benchmark', 'BenchmarkFields'],
    ['go-old', 'go-new', 8, 'time', 'ns', ['unpaired', 'averaged']],
  ],
  [
    'go-bench',
    ['go-new.txt', '--reference', 'BenchmarkFields', '--candidate', 'BenchmarkSplit'],
    ['BenchmarkFields', 'BenchmarkSplit', 8, 'time', 'ns', ['unpaired', 'averaged']],
  ],
  [
    'google-benchmark',
    ['google-benchmark.json', '--reference', 'map/100', '--candidate', 'unordered_map/100'],
    ['map/100', 'unordered_map/100', 10, 'time', 'ns', ['unpaired', 'averaged']],
  ],
  [
    'jmh',
    [
      'jmh.json',
      '--reference',
      'words.Join.plus(n=100) [thrpt]',
      '--candidate',
      'words.Join.builder(n=100) [thrpt]',
    ],
    [
      'words.Join.plus(n=100) [thrpt]',
      'words.Join.builder(n=100) [thrpt]',
      5,
      'throughput',
      'ops/us',
      ['unpaired', 'averaged'],
    ],
  ],
];

describe.each(REAL)('%s %j', (format, args, [reference, candidate, samples, metric, unit, doubts]) => {
  test('becomes a run that its readers take', async () => {
    const out = place();
    const { exit, stdout, stderr } = await bring(out, [format, ...args]);
    expect(exit).toBe(0);
    const run = stdout.trimEnd();
    const { text, analysis, rows } = read(run);
    expect(problemsOf(analysisSchema, { value: analysis }, 'analysis')).toEqual([]);
    expect(rows.flatMap((value) => problemsOf(resultLine, { value }, 'row'))).toEqual([]);
    expect(rows).toHaveLength(2 * samples);
    expect(analysis).toMatchObject({
      origin: 'imported',
      judged: false,
      exit: 0,
      sessions: [],
      comparisons: [{ reference, candidate, samples }],
      conclusions: [{ metric, rounds: samples }],
    });
    expect(analysis.metrics[0]).toMatchObject({ key: metric, unit });
    expect(analysis.doubts.map((one) => one.name)).toEqual(expect.arrayContaining(doubts));
    expect(stderr).toContain(analysis.conclusions[0]!.sentence);
    expect(analysis.outputs['results.jsonl']).toBe(sha256(text('results.jsonl')));
    for (const [name, digest] of Object.entries(analysis.inputs)) expect(sha256(text(name))).toBe(digest);
  });

  test('leaves a line of its ratio', async () => {
    const out = place();
    await bring(out, [format, ...args, '--commit', 'abcdef1234567', '--purpose', 'pr']);
    const line = JSON.parse(readFileSync(join(out, 'imported.jsonl'), 'utf8'));
    expect(problemsOf(historyLine, { value: line }, 'line')).toEqual([]);
    expect(line).toMatchObject({ core: 'abcdef1234', more: { purpose: 'pr', candidate, reference } });
    expect(line.values[metric]).toBeGreaterThan(0);
    expect(Object.keys(line)).not.toContain('compare');
    expect(readdirSync(out)).not.toContain('track.jsonl');
  });
});

test('values are the file’s own', async () => {
  const { results } = JSON.parse(readFileSync(join(fixtures, 'hyperfine.json'), 'utf8'));
  const { stdout } = await bring(place(), ['hyperfine', ...REAL[0]![1]]);
  const { rows, analysis } = read(stdout.trimEnd());
  expect(rows.filter((one) => one.target === 'sort data').map((one) => one.time)).toEqual(
    results[1].times.map((one: number) => Number((1000 * one).toPrecision(15))),
  );
  expect(analysis.comparisons[0]!.values['piTime']).toBeCloseTo(1000 * results[0].median, 9);
});

test('JMH: forks are the samples, and rates are better when they are higher', async () => {
  const { stdout } = await bring(place(), ['jmh', ...REAL[4]![1]]);
  const { rows, analysis } = read(stdout.trimEnd());
  const raw = JSON.parse(readFileSync(join(fixtures, 'jmh.json'), 'utf8'))[0].primaryMetric
    .rawData as number[][];
  expect(rows.filter((one) => one.target.includes('builder')).map((one) => one.throughput)).toEqual(
    raw.map((fork) => fork.reduce((sum, one) => sum + one, 0) / fork.length),
  );
  expect(analysis.metrics[0]!.better).toBe('higher');
  expect(analysis.conclusions[0]!.sentence).toContain('faster');
});

test('Google Benchmark: its date, its machine, its counters', async () => {
  const { stdout } = await bring(place(), ['google-benchmark', ...REAL[3]![1]]);
  const { analysis } = read(stdout.trimEnd());
  const { context } = JSON.parse(readFileSync(join(fixtures, 'google-benchmark.json'), 'utf8'));
  expect(Date.parse(analysis.measured_at)).toBe(Date.parse(context.date));
  expect(analysis.imported!.machine).toMatchObject({ num_cpus: context.num_cpus, cpu_scaling_enabled: 'no' });
  expect(analysis.metrics.map((one) => [one.key, one.better])).toEqual([
    ['time', 'lower'],
    ['cpuTime', 'lower'],
    ['itemsPerSecond', 'higher'],
  ]);
});

const hyperfine = (...results: object[]): string => JSON.stringify({ results });
const times = (...all: number[]) => all.map((one) => one / 1000);

/** A JMH result of one fork. */
const oneFork = (benchmark: string) => ({
  benchmark,
  mode: 'avgt',
  primaryMetric: { scoreUnit: 'ms/op', rawData: [[1, 2, 3, 2]] },
});

/** Six lines of `go test -bench`, under a nanosecond each. */
const goLines = (name: string) =>
  Array.from({ length: 6 }, (_, at) => `Benchmark${name}-2 1000 0.3${at} ns/op\n`).join('');

describe('doubts', () => {
  test('of samples without a partner', async () => {
    const text = hyperfine(
      { command: 'a', times: times(1, 2, 3, 4, 5) },
      { command: 'b', times: times(1, 2, 3) },
    );
    const { stdout } = await bring(place(), ['hyperfine', '-', '--reference', 'a', '--candidate', 'b'], text);
    const { analysis, rows } = read(stdout.trimEnd());
    expect([analysis.rounds, rows.length]).toEqual([3, 8]);
    expect(analysis.doubts.find((one) => one.name === 'left-out')).toMatchObject({ value: 2 });
  });

  test('of commands that failed', async () => {
    const codes = [0, 1, null];
    const text = hyperfine(
      { command: 'a', times: times(1, 2, 3), exit_codes: codes },
      { command: 'b', times: times(1, 2, 3) },
    );
    const { stdout } = await bring(place(), ['hyperfine', '-', '--reference', 'a', '--candidate', 'b'], text);
    const { analysis } = read(stdout.trimEnd());
    expect(analysis.doubts.find((one) => one.name === 'failed-runs')).toMatchObject({ value: 2 });
  });

  test('of a single fork', async () => {
    const { stdout } = await bring(
      place(),
      ['jmh', '-', '--reference', 'a', '--candidate', 'b'],
      JSON.stringify([oneFork('a'), oneFork('b')]),
    );
    const { analysis } = read(stdout.trimEnd());
    expect(analysis.rounds).toBe(4);
    expect(analysis.doubts.filter((each) => each.name === 'one-process')).toHaveLength(2);
    expect(analysis.doubts.map((each) => each.name)).not.toContain('averaged');
  });

  test('not of short times where a sample is a mean of many', async () => {
    const { stdout } = await bring(
      place(),
      ['go-bench', '-', '--reference', 'BenchmarkA', '--candidate', 'BenchmarkB'],
      goLines('A') + goLines('B'),
    );
    expect(read(stdout.trimEnd()).analysis.doubts.map((one) => one.name)).not.toContain('short');
  });
});

/** Twelve repetitions that take `base`, a little more or less. */
const googleFile = (time_unit: string, base: number, context: object = {}): string =>
  JSON.stringify({
    context,
    benchmarks: Array.from({ length: 12 }, (_, at) => ({
      name: 'BM_x',
      real_time: base * (1 + 0.001 * ((at * 7) % 5)),
      cpu_time: base,
      time_unit,
    })),
  });

const twoFiles = (format: string, first: string, second: string, ...more: string[]) => {
  const at = place();
  mkdirSync(at);
  const files = [join(at, 'old'), join(at, 'new')];
  for (const [index, content] of [first, second].entries()) writeFileSync(files[index]!, content);
  return bring(place(), [format, ...files, ...more]);
};

describe('units', () => {
  test('of one dimension: the candidate is told in those of the reference', async () => {
    const { stdout } = await twoFiles('google-benchmark', googleFile('ns', 1500), googleFile('us', 1.5));
    const { analysis, rows } = read(stdout.trimEnd());
    expect(analysis.metrics).toMatchObject([
      { key: 'time', unit: 'ns' },
      { key: 'cpuTime', unit: 'ns' },
    ]);
    expect(rows.map((one) => one.cpuTime)).toEqual(Array.from({ length: 24 }, () => 1500));
    expect(analysis.conclusions[0]).toMatchObject({ conclusion: 'same', ratio: 1 });
  });

  test('of rates as well', async () => {
    const thrpt = (scoreUnit: string, value: number) =>
      JSON.stringify([
        {
          benchmark: 'a',
          mode: 'thrpt',
          primaryMetric: { scoreUnit, rawData: Array.from({ length: 6 }, () => [value]) },
        },
      ]);
    const { stdout } = await twoFiles('jmh', thrpt('ops/ms', 250), thrpt('ops/us', 0.25));
    const { analysis } = read(stdout.trimEnd());
    expect(analysis.comparisons[0]!.values).toMatchObject({ throughput: 250, piThroughput: 250 });
  });

  test('of two dimensions are refused', async () => {
    const widgets = (unit: string) => `Unit ${unit} better=higher\nBenchmarkA 1 5 ${unit}\n`;
    const per = (unit: string) =>
      JSON.stringify([
        { benchmark: 'a', mode: 'avgt', primaryMetric: { scoreUnit: unit, rawData: [[1, 2]] } },
      ]);
    const units = await twoFiles('jmh', per('ms/op'), per('B/op'));
    expect([units.exit, units.stdout]).toEqual([1, '']);
    expect(units.stderr).toContain(
      "'time' is in ms/op in 'old' and in B/op in 'new', which can't be compared",
    );
    const ways = await twoFiles('go-bench', widgets('w/op'), 'BenchmarkA 1 5 w/op\n');
    expect([ways.exit, ways.stdout]).toEqual([1, '']);
    expect(ways.stderr).toContain("'wPerOp' is better higher in 'old' and lower in 'new'");
  });

  test('two measures that would be one are refused', async () => {
    const { exit, stderr } = await bring(place(), ['go-bench', '-'], 'BenchmarkA 1 5 ns/op 7 time\n');
    expect(exit).toBe(1);
    expect(stderr).toContain("stdin:1: 'BenchmarkA' has two measures 'time', in ns and in time");
  });
});

describe('machines', () => {
  const [a, b] = [
    googleFile('ns', 5, { host_name: 'a', num_cpus: 4, executable: './old' }),
    googleFile('ns', 5, { host_name: 'b', num_cpus: 4, executable: './new' }),
  ];

  test('two are refused', async () => {
    const { exit, stdout, stderr } = await twoFiles('google-benchmark', a, b);
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain("two machines: host_name is 'a' of 'old' and 'b' of 'new'; measure both on one");
  });

  test('two that are meant are told apart, with a doubt', async () => {
    const { stdout } = await twoFiles('google-benchmark', a, b, '--machines-apart');
    const { analysis } = read(stdout.trimEnd());
    expect(analysis.doubts[0]).toMatchObject({ name: 'other-machine', value: 1 });
    expect(analysis.imported!.machine).toEqual({
      num_cpus: 4,
      'host_name of old': 'a',
      'host_name of new': 'b',
      'executable of old': './old',
      'executable of new': './new',
    });
    const line = JSON.parse(readFileSync(join(dirname(stdout.trimEnd()), 'imported.jsonl'), 'utf8'));
    expect(line.more.nodeType).toMatchObject({ cpuModel: 'a against b', gomaxprocs: 4 });
  });

  test('one is no doubt, whatever else differs', async () => {
    const { stdout } = await twoFiles('google-benchmark', a, a.replace('./old', './new'));
    expect(read(stdout.trimEnd()).analysis.doubts.map((one) => one.name)).not.toContain('other-machine');
  });

  test('of one file of go test: its numbers of cores stay apart, a second machine is refused', async () => {
    const text = 'cpu: X\nBenchmarkA-2 1 5 ns/op\nBenchmarkA-4 1 3 ns/op\nBenchmarkA 1 9 ns/op\n';
    const cores = await bring(place(), ['go-bench', '-'], text);
    expect(cores.stderr).toContain("'stdin' has 'BenchmarkA-2', 'BenchmarkA-4', 'BenchmarkA'");
    const machines = await bring(place(), ['go-bench', '-'], `${text}cpu: Y\n`);
    expect(machines.exit).toBe(1);
    expect(machines.stderr).toContain("stdin:5: cpu is 'Y' here and 'X' above");
  });
});

test('two imports of one second have names of their own', async () => {
  const out = place();
  const first = await bring(out, ['hyperfine', ...REAL[0]![1]]);
  const second = await bring(out, ['hyperfine', ...REAL[0]![1]]);
  expect(second.stdout).toBe(first.stdout.replace(/\n$/, '-2\n'));
});

describe('refused, and nothing is written', () => {
  const [a, b] = [
    { command: 'a', times: [1, 2] },
    { command: 'b', times: [1, 2] },
  ];
  test.each<[string, string[], string, number, string]>([
    ['no file', ['hyperfine'], '', 2, 'missing argument FILE…'],
    [
      'an unknown format',
      ['criterion', 'x.json'],
      '',
      2,
      "expected hyperfine, go-bench, google-benchmark, jmh, found 'criterion'",
    ],
    [
      'three files',
      ['hyperfine', 'a', 'b', 'c'],
      '',
      2,
      "one file or two: the reference's and the candidate's, found 3",
    ],
    [
      'one file and no names',
      ['hyperfine', '-'],
      hyperfine(a, b),
      2,
      "one file needs two names: '--reference NAME --candidate NAME'; 'stdin' has 'a', 'b'",
    ],
    [
      'a name that is not there',
      ['hyperfine', '-', '--reference', 'a', '--candidate', 'c'],
      hyperfine(a, b),
      2,
      "'stdin' has no 'c'; it has 'a', 'b'",
    ],
    [
      'the same name twice',
      ['hyperfine', '-', '--reference', 'a', '--candidate', 'a'],
      hyperfine(a, b),
      2,
      "'--reference' and '--candidate' name the same: 'a'",
    ],
    [
      'several benchmarks in common',
      ['go-bench', 'go-old.txt', 'go-new.txt'],
      '',
      2,
      "which benchmark? '--benchmark NAME' chooses; both files have 'BenchmarkFields'",
    ],
    [
      'a benchmark of neither',
      ['go-bench', 'go-old.txt', 'go-new.txt', '--benchmark', 'X'],
      '',
      2,
      "'go-old.txt' has no 'X'",
    ],
    [
      'a file that is not there',
      ['jmh', 'nowhere.json'],
      '',
      1,
      "can't read 'nowhere.json': it does not exist",
    ],
    ['what is no JSON', ['hyperfine', '-'], 'Benchmark', 1, 'stdin:1: expected JSON'],
    ['JSON of another program', ['hyperfine', 'jmh.json'], '', 1, 'jmh.json: results: missing'],
    [
      'a time that is none',
      ['hyperfine', '-'],
      '{"results":[{"command":"a","times":[-1]}]}',
      1,
      'stdin: results.0.times.0: expected a number ≥ 0, found -1',
    ],
    [
      'a time that is Infinity',
      ['go-bench', '-'],
      'BenchmarkA 1 +Inf ns/op\n',
      1,
      "stdin:1: expected a finite number of ns/op, found '+Inf'",
    ],
    ['no benchmark at all', ['go-bench', '-'], 'PASS\n', 1, 'stdin: no line of a benchmark in it'],
    [
      'aggregates alone',
      ['google-benchmark', '-'],
      '{"benchmarks":[{"name":"a_mean","run_type":"aggregate"}]}',
      1,
      'only aggregates',
    ],
    [
      'a benchmark that failed',
      ['google-benchmark', '-'],
      '{"benchmarks":[{"name":"a","error_occurred":true,"error_message":"no file"}]}',
      1,
      "'a' failed: no file",
    ],
    [
      'JMH without raw data',
      ['jmh', '-'],
      '[{"benchmark":"a","mode":"sample","primaryMetric":{"scoreUnit":"ms/op"}}]',
      1,
      "'a' has no raw data (mode sample)",
    ],
  ])('%s', async (_, args, stdin, status, says) => {
    const out = place();
    const { exit, stdout, stderr } = await bring(out, args, stdin);
    expect([exit, stdout]).toEqual([status as never, '']);
    expect(stderr).toContain(says);
    expect(() => readdirSync(out)).toThrow();
  });

  test('measures that only one of them has', async () => {
    const out = place();
    const text = 'BenchmarkA 1 5 ns/op\nBenchmarkB 1 5 widgets/op\n';
    const { exit, stderr } = await bring(
      out,
      ['go-bench', '-', '--reference', 'BenchmarkA', '--candidate', 'BenchmarkB'],
      text,
    );
    expect(exit).toBe(1);
    expect(stderr).toContain('have no measure that every sample of both has');
  });
});

test('hostile names stay data', async () => {
  const name = '</script>\u001b[31m\n../../x';
  const file = join(place() + '.json');
  writeFileSync(
    file,
    hyperfine({ command: name, times: times(1, 2, 3) }, { command: 'b', times: times(1, 2, 3) }),
  );
  const out = place();
  const { exit, stdout, stderr } = await bring(out, [
    'hyperfine',
    file,
    '--reference',
    'b',
    '--candidate',
    name,
    '--profile',
    name,
  ]);
  expect(exit).toBe(0);
  expect(stderr).not.toContain('\u001b');
  expect(stdout).toMatch(/\/k8sbench-imp-script-31m-x-\d{8}-\d{6}\n$/);
  expect(read(stdout.trimEnd()).analysis.comparisons[0]!.candidate).toBe(name);
});

test('every format is tried on a real file', () => {
  expect(new Set(REAL.map(([format]) => format))).toEqual(new Set(Object.keys(FORMATS)));
});

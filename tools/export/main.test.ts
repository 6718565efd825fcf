/** What each format does with runs that it can't hold, and with names that mean harm. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import type { ResultLine } from '../../schemas/results.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import { runTool } from '../../test/outside.ts';
import { FORMATS } from './formats.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-export-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;

const row = (target: string, sample: number, more: object = {}): ResultLine => ({
  target,
  turns: 50,
  sample,
  open: 1,
  turn: [5, 2.25, 3],
  gomaxprocs: 2,
  cpuModel: 'Synthetic CPU',
  cpuFeatures: '',
  ...more,
});

const analysis = (more: Partial<Analysis> = {}): Analysis => ({
  format: 'analysis/1',
  run: 'k8sbench-cmp-made',
  mode: 'compare',
  profile: 'store',
  rule: 'store',
  measured_at: '2026-01-02T03:04:05.000Z',
  commit: '',
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
      run: 'k8sbench-cmp-made',
      node: 'node-a',
      nodeType: { cpuModel: 'Synthetic CPU', cpuFeatures: '', gomaxprocs: 2 },
      cpuSet: 'shared',
      cpus: '0-1',
      fixedClock: true,
      delivery: 'local',
      commit: '',
      started_at: '2026-01-02T03:04:05.000Z',
      foreignLines: 0,
      throttle: {},
    },
  ],
  noise: {},
  comparisons: [
    {
      candidate: 'journal',
      reference: 'sqlite',
      rule: 'store',
      turns: 50,
      fingerprint: 'x',
      warmTurns: 6,
      samples: 3,
      values: { warm: 2.5, piWarm: 2.5, served: 9, piServed: 8 },
      beside: {},
      verdicts: { warm: 'tie' },
      throttle: {},
    },
  ],
  metrics: [],
  identities: {},
  doubts: [],
  conclusions: [],
  settings: { gate: 'auto', maxCv: 0.05, allowIncomplete: false, k8sbench: '0' },
  inputs: {},
  outputs: {},
  ...more,
});

const place = (
  found: Analysis | undefined,
  rows: readonly ResultLine[] = [row('journal', 0), row('sqlite', 0)],
): string => {
  const run = join(scratch, String(places++));
  mkdirSync(run);
  const text = rows.map((one) => `${JSON.stringify(one)}\n`).join('');
  writeFileSync(join(run, 'results.jsonl'), text);
  if (found)
    writeFileSync(
      join(run, 'analysis.json'),
      jsonText({ ...found, outputs: { 'results.jsonl': sha256(text), ...found.outputs } }),
    );
  return run;
};

const exported = (format: string, run: string) => runTool(main, [format, '--run', run]);

describe.each(Object.keys(FORMATS))('%s', (name) => {
  test('of a run that was not analyzed says which step is missing', async () => {
    const { exit, stdout, stderr } = await exported(name, place(undefined));
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain("has no analysis.json; 'analyze' writes it: k8sbench analyze --run");
  });

  test('of rows that are not those of the analysis is refused', async () => {
    const { exit, stdout, stderr } = await exported(
      name,
      place(analysis({ outputs: { 'results.jsonl': '0'.repeat(64) } })),
    );
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain('is not the one that analysis.json was written with');
  });

  test.each([
    [3, 'sqlite varies too much'],
    [5, 'the cores changed'],
  ] as const)('of a run that ended with %d says so, or ends the same way', async (exit, reason) => {
    const ended = await exported(name, place(analysis({ judged: false, exit, reasons: [reason] })));
    if (FORMATS[name]!.holds === 'comparisons') {
      expect([ended.exit, ended.stdout]).toEqual([exit, '']);
      expect(ended.stderr).toContain(reason);
    } else {
      expect(ended.exit).toBe(0);
      if (FORMATS[name]!.holds === 'outcome') expect(ended.stdout).toContain(reason);
    }
  });

  test('of a calibration gives samples or noise, or says that there is no comparison', async () => {
    const run = place(analysis({ mode: 'calibrate', comparisons: [] }), [row('sqlite', 0)]);
    const { exit, stdout, stderr } = await exported(name, run);
    if (FORMATS[name]!.holds === 'comparisons') {
      expect([exit, stdout]).toEqual([1, '']);
      expect(stderr).toContain("is a calibration: it compares nothing that '");
    } else expect([exit, stdout.length > 0]).toEqual([0, true]);
  });
});

test.each([
  [[], 'missing argument FORMAT'],
  [
    ['xml'],
    "expected benchfmt, junit, bencher, github-action-benchmark, hyperfine, csv, markdown, found 'xml'",
  ],
  [['csv'], "no run directory: name it with '--run DIR'"],
])('the command line %j is refused', async (args, says) => {
  const { exit, stdout, stderr } = await runTool(main, args);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain(says);
});

test('the run directory may come from stdin', async () => {
  const run = place(analysis());
  const { exit, stdout } = await runTool(main, ['csv', '--run', '-'], { stdin: `${run}\n` });
  expect([exit, stdout.split('\r\n').length]).toEqual([0, 8]);
});

test.each([
  [true, 'journal', 'yes'],
  [false, 'journal (not judged)', 'no'],
])('hyperfine’s JSON says whether it was judged: %p', async (judged, command, word) => {
  const about = analysis({ judged, exit: judged ? 0 : 3 });
  const { exit, stdout } = await exported('hyperfine', place(about, [row('journal', 0)]));
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).results).toMatchObject([{ command, parameters: { judged: word } }]);
});

test('numbers are the rows’ own, in base units', async () => {
  const { stdout } = await exported('benchfmt', place(analysis(), [row('journal', 0, { peakRss: 1.5 })]));
  expect(stdout).toContain(
    '\ntarget: journal\nBenchmarkStore/turns=50 1 0.002625 warm-sec 0.006 cold-sec 1572864 peak-rss-B\n',
  );
});

test('a pooled metric has a value for each turn', async () => {
  const own = [{ key: 'served', unit: 'req/s', better: 'higher' as const }];
  const { stdout } = await exported(
    'csv',
    place(analysis({ metrics: own }), [row('journal', 0, { served: [7, 8, 9] })]),
  );
  expect(stdout.split('\r\n').map((line) => line.split(',').slice(-4).join(' '))).toEqual([
    'turn wall_ms cpu_ms served_req_s',
    '1 5  7',
    '2 2.25  8',
    '3 3  9',
    '',
  ]);
});

test('a value that is better when it is higher is left out where less is better, and that is said', async () => {
  const run = place(analysis({ metrics: [{ key: 'served', unit: 'req/s', better: 'higher' }] }));
  const { stdout, stderr } = await exported('github-action-benchmark', run);
  expect(stdout).not.toContain('served');
  expect(stderr).toContain("'served' is better when it is higher");
});

test.each([
  [undefined, 'slower', 1],
  [undefined, 'cant-tell', 0],
  [['cant-tell'], 'cant-tell', 1],
  [['cant-tell'], 'slower', 0],
  [['not-faster'], 'same', 1],
  [['not-faster'], 'faster', 0],
] as const)(
  'junit: with --fail-on %p a conclusion that is %s fails %d',
  async (failOn, conclusion, failures) => {
    const found = analysis({
      settings: { ...analysis().settings, ...(failOn ? { failOn: [...failOn] } : {}) },
      conclusions: [
        {
          candidate: 'journal',
          turns: 50,
          metric: 'warm',
          basis: 'wall',
          conclusion,
          ratio: 1,
          low: 1,
          high: 1,
          p: 1,
          margin: 0.03,
          rounds: 3,
          scope: 'session',
          sentence: 'as it is',
        },
      ],
    });
    expect((await exported('junit', place(found))).stdout).toContain(`tests="1" failures="${failures}"`);
  },
);

test.each([
  [{ mode: 'calibrate', exit: 5, reasons: ['the cpuset changed'] }, 'error', 'the cpuset changed'],
  [{ mode: 'calibrate', exit: 3, reasons: [] }, 'skipped', 'not judged'],
  [{ exit: 5, reasons: ['the cpuset changed'] }, 'error', 'the cpuset changed'],
  [{ exit: 3, reasons: ['the log ends early'] }, 'skipped', 'the log ends early'],
] as const)('junit: a run with nothing to answer is no green suite: %j', async (about, kind, message) => {
  const found = analysis({
    ...(about as unknown as Partial<Analysis>),
    judged: false,
    comparisons: [],
    conclusions: [],
  });
  const { stdout } = await exported('junit', place(found));
  expect(stdout).toContain(
    `tests="1" failures="0" errors="${kind === 'error' ? 1 : 0}" skipped="${kind === 'skipped' ? 1 : 0}"`,
  );
  expect(stdout).toContain(`name="k8sbench-cmp-made"`);
  expect(stdout).toContain(`<${kind} message="${message}"`);
});

describe('hostile names', () => {
  const name = '=1+1</script>"\n\u001b[31m|x,';
  const hostile = (): string => {
    const one = analysis().comparisons[0]!;
    return place(
      analysis({
        profile: name,
        rule: name,
        comparisons: [{ ...one, candidate: name, rule: name }],
        sessions: [{ ...analysis().sessions[0]!, node: name }],
      }),
      [row(name, 0), row('sqlite', 0)],
    );
  };

  test.each(Object.keys(FORMATS))('leave no control characters in %s', async (format) => {
    const { exit, stdout } = await exported(format, hostile());
    expect(exit).toBe(0);
    expect(stdout).not.toContain('\u001b');
  });

  test('are no formula, no second cell and no second line of a CSV', async () => {
    const lines = (await exported('csv', hostile())).stdout.split('\r\n');
    expect(lines).toHaveLength(8);
    expect(lines[1]).toContain(`,"'=1+1</script>""\\n\\e[31m|x,",`);
  });

  test('are one word of a benchmark, and one line', async () => {
    const { stdout } = await exported('benchfmt', hostile());
    for (const line of stdout.trimEnd().split('\n'))
      expect(line).toMatch(
        /^([a-z]+: .*|Unit \S+ better=lower|Benchmark[A-Za-z0-9_]+\/turns=50 1( [0-9.e-]+ \S+)+)$/,
      );
  });

  test('are text in XML', async () => {
    const { stdout } = await exported('junit', hostile());
    expect(stdout).not.toContain('</script>');
    expect(stdout).toContain('&lt;/script&gt;&quot;\\n\\e[31m|x,');
  });
});

/** Calibrations: what they say of nodes, and what a comparison makes of them. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Calibration, calibration as calibrationSchema } from '../../schemas/calibration.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText, problemsOf } from '../../shared/read.ts';
import { median } from '../../shared/statistics.ts';
import { type Made, madeLog } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { warmDrift } from './calibrate.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-calibrate-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;

/** Analyzes a calibration of one session or, on several nodes, of several. */
const calibrated = async (sessions: Partial<Made>[], flags: string[] = []) => {
  const run = join(scratch, `cal-${places++}`);
  const logs = sessions.map((made, at) =>
    madeLog({
      run: sessions.length === 1 ? 'k8sbench-cal-made' : `k8sbench-cal-made-n${at + 1}`,
      mode: 'calibrate',
      rounds: 12,
      ...made,
      facts: { node: `node-${at + 1}`, ...made.facts },
    }),
  );
  mkdirSync(run, { recursive: true });
  if (logs.length === 1) writeFileSync(join(run, 'pod.log'), logs[0]!);
  else {
    const children = logs.map((log, at) => {
      const name = `k8sbench-cal-made-n${at + 1}`;
      mkdirSync(join(run, name));
      writeFileSync(join(run, name, 'pod.log'), log);
      return { run: name, dir: name, outcome: 'done' };
    });
    writeFileSync(
      join(run, 'spread.json'),
      jsonText({ format: 'spread/1', run: 'k8sbench-cal-made', over: 'nodes', children }),
    );
  }
  const { exit, stderr } = await runTool(main, ['--run', run, ...flags]);
  const written = JSON.parse(readFileSync(join(run, 'calibration.json'), 'utf8')) as Calibration;
  expect(problemsOf(calibrationSchema, { value: written }, 'calibration.json')).toEqual([]);
  return { exit, stderr, written, path: join(run, 'calibration.json'), run };
};
const noisy: Partial<Made> = { sample: (_, __, round) => ({ open: 9 + 9 * (round % 2) }) };
const scaling: Partial<Made> = {
  pin: { fixedClock: false, governors: { '0': 'schedutil', '1': 'schedutil' } },
};

const here = (open: number): Partial<Made> => ({
  facts: { node: 'node-1' },
  sample: (_, __, round) => ({ open: open + round / 100 }),
});

const compared = async (made: Partial<Made>, calibration: object, flags: string[] = []) => {
  const path = join(scratch, `held-${places++}.json`);
  writeFileSync(path, jsonText(calibration));
  return runTool(main, ['--log', '-', '--calibration', path, ...flags], {
    stdin: madeLog({ ...made, facts: { node: 'node-1', ...made.facts } }),
  });
};

describe('a calibration', () => {
  test('of twelve quiet runs passes', async () => {
    const { exit, stderr, written } = await calibrated([{}]);
    expect(exit).toBe(0);
    expect(written.sizes['50']).toMatchObject({ judged: true, pass: true, problems: [] });
    const node = written.sizes['50']!.nodes['node-1']!;
    expect(node).toMatchObject({ runs: 12, pass: true, throttle: { samples: 12, throttledSamples: 0 } });
    expect(node.noise['warm']!.n).toBe(12);
    expect(node.clock).toEqual({
      governors: {},
      scaling: false,
      mhz: null,
      mhzCv: null,
      cpuMhzCorrelation: null,
    });
    expect(stderr).toMatch(
      /turns +metric +n +mean +sd +CV +gate\n +50 +warm +12 +20\.0 +0\.029 +0\.1% +pass\n/,
    );
    expect(stderr).toMatch(/node +runs +gated CVs +warm drift/);
    expect(stderr).toContain('calibrated: within the limit');
  });

  test('over the limit is exit 3', async () => {
    const { exit, stderr, written } = await calibrated([noisy]);
    expect(exit).toBe(3);
    expect(written.sizes['50']).toMatchObject({ judged: true, pass: false });
    expect(stderr).toContain('at 50 turns: cold varies too much from run to run');
    expect(stderr).toContain('calibrated: over the limit');
  });

  test.each<[string, Partial<Made>, string]>([
    ['of eleven runs', { rounds: 11 }, '11 runs: a calibration is judged from 12'],
    ['of eleven noisy runs', { ...noisy, rounds: 11 }, '11 runs: a calibration is judged from 12'],
    ['on clocks that scale', scaling, "judged on fixed clocks only: the cores of 'node-1' scale"],
  ])('%s is told, not judged: exit 0', async (_, made, says) => {
    const { exit, stderr, written, run } = await calibrated([made]);
    expect(exit).toBe(0);
    expect(written.sizes['50']).toMatchObject({ judged: false, pass: false });
    expect(stderr).toContain(says);
    expect(stderr).toContain('not judged');
    expect(JSON.parse(readFileSync(join(run, 'analysis.json'), 'utf8'))).toMatchObject({
      judged: false,
      exit: 0,
    });
  });

  test('is held to its gate: noisy wall times pass on shared cores', async () => {
    const shared = { ...noisy, facts: { cpuSet: 'shared' } };
    expect((await calibrated([shared])).exit).toBe(0);
    expect((await calibrated([shared], ['--gate', 'wall'])).exit).toBe(3);
  });

  test('says drift, throttling and clock of its node', async () => {
    const { written } = await calibrated([
      {
        rounds: 12,
        sample: (_, __, round) => ({ turn: [40, round < 6 ? 20 : 21] }),
        cpu: (_, __, round) => ({
          usageUsec: 100_000 - 100 * round,
          mhz: 2000 + 10 * round,
          nrThrottled: round % 2,
          throttledUsec: 100 * (round % 2),
        }),
      },
    ]);
    const node = written.sizes['50']!.nodes['node-1']!;
    expect(node.warmDrift).toBe(21 / 20);
    expect(node.throttle).toEqual({ samples: 12, throttledSamples: 6, nrThrottled: 6, throttledUsec: 600 });
    expect(node.clock.mhz).toBeCloseTo(2055, 9);
    expect(node.clock.mhzCv).toBeCloseTo((Math.sqrt(13) * 10) / 2055, 9);
    expect(node.clock.cpuMhzCorrelation).toBeCloseTo(-1, 9);
  });

  test('what can not be measured is null, never 0', async () => {
    const { written } = await calibrated([
      { cpu: (_, __, round) => (round === 3 ? { nrThrottled: null, throttledUsec: null } : {}) },
    ]);
    expect(written.sizes['50']!.nodes['node-1']!.throttle).toEqual({
      samples: 12,
      throttledSamples: null,
      nrThrottled: null,
      throttledUsec: null,
    });
  });

  test('over nodes is a median, and names the node that is noisy on its own', async () => {
    const { exit, stderr, written } = await calibrated([{}, noisy, {}]);
    expect(exit).toBe(0);
    expect(written.sizes['50']).toMatchObject({ judged: true, pass: true });
    expect(Object.entries(written.sizes['50']!.nodes).map(([name, one]) => [name, one.pass])).toEqual([
      ['node-1', true],
      ['node-2', false],
      ['node-3', true],
    ]);
    expect(stderr).toContain("node 'node-2' is unfit on its own: cold varies too much");
    expect((await calibrated([noisy, noisy, {}])).exit).toBe(3);
    expect((await calibrated([{}, scaling])).written.sizes['50']!.judged).toBe(false);
  });

  test('of several sessions on one node is one entry, by their medians', async () => {
    const { written } = await calibrated([here(8), here(30), here(9)]);
    const { nodes } = written.sizes['50']!;
    expect(Object.keys(nodes)).toEqual(['node-1']);
    expect(nodes['node-1']).toMatchObject({ runs: 12, throttle: { samples: 36 } });
    expect(nodes['node-1']!.noise['cold']!.mean).toBe(written.sizes['50']!.noise['cold']!.mean);
  });

  test('is not held to another one', async () => {
    const { run, path } = await calibrated([{}]);
    const { exit, stderr } = await runTool(main, ['--run', run, '--calibration', path]);
    expect(exit).toBe(2);
    expect(stderr).toContain('this run is a calibration');
  });
});

describe('drift', () => {
  test.each<[number[], number | null]>([
    [[], null],
    [[1, 2, 3], null],
    [[1, 1, 2, 2], 2],
    [[1, 1, 3, 3, 3], 3],
    [[0, 0, 1, 1], null],
  ])('of %j is %p', (warm, drift) => expect(warmDrift(warm)).toBe(drift));

  test('is the ratio of the halves medians', () => {
    const warm = [5, 3, 8, 1, 9, 2, 7];
    expect(warmDrift(warm)).toBe(median([1, 9, 2, 7]) / median([5, 3, 8]));
  });
});

describe('a comparison held to a calibration', () => {
  test('that is quiet on its node is judged, and says which one', async () => {
    const { path, written } = await calibrated([{}]);
    const { exit } = await compared({}, written);
    expect(exit).toBe(0);
    const run = join(scratch, `cmp-${places++}`);
    mkdirSync(run);
    writeFileSync(join(run, 'pod.log'), madeLog({ facts: { node: 'node-1' } }));
    await runTool(main, ['--run', run, '--calibration', join(path, '..')]);
    const noise = JSON.parse(readFileSync(join(run, 'noise.json'), 'utf8'));
    expect(noise.calibration.sha256).toBe(sha256(readFileSync(path)));
  });

  test.each<[string, Partial<Made>[], Partial<Made>, string]>([
    ['is over the limit', [noisy], {}, 'the calibration at 50 turns: cold varies too much'],
    [
      'lacks a size',
      [{}],
      { turns: [50, 500] },
      'the calibration has no size 500; calibrate with --turns 500',
    ],
    [
      'is too short',
      [{ rounds: 11 }],
      {},
      "the calibration has 11 runs at 50 turns on node 'node-1', and 12 are needed",
    ],
    [
      'did not measure the node',
      [{}],
      { facts: { node: 'elsewhere' } },
      "did not measure node 'elsewhere' at 50 turns; calibrate it, or compare on 'node-1'",
    ],
    [
      'was measured on scaling clocks',
      [scaling],
      {},
      "measured node 'node-1' on cores that scale their clock",
    ],
    ['passed by other nodes alone', [noisy, {}, {}], {}, 'the calibration at 50 turns: cold varies too much'],
  ])('that %s is refused', async (_, sessions, made, says) => {
    const { written } = await calibrated(sessions);
    const { exit, stderr } = await compared(made, written);
    expect(stderr).toContain(says);
    expect(exit).toBe(3);
  });

  test.each<[string, (good: Calibration) => unknown, string]>([
    [
      'of another profile',
      (good) => ({ ...good, profile: 'other' }),
      "the calibration is of profile 'other', this run of 'store'",
    ],
    [
      'that names no node',
      (good) => ({ ...good, sizes: { 50: { ...good.sizes['50'], nodes: {} } } }),
      'the calibration names no node at 50 turns',
    ],
  ])('%s is refused', async (_, change, says) => {
    const { written } = await calibrated([{}]);
    const { exit, stderr } = await compared({}, change(written) as object);
    expect(stderr).toContain(says);
    expect(exit).toBe(3);
  });

  test("is judged by this run's gate, not by the calibration's", async () => {
    const { written } = await calibrated([noisy], ['--gate', 'cpu']);
    expect(written.gate).toBe('cpu');
    expect((await compared({}, written, ['--gate', 'cpu'])).exit).toBe(0);
    expect((await compared({}, written, ['--gate', 'wall'])).exit).toBe(3);
  });

  test('takes a noisy node that is fine in the median of the nodes of this run', async () => {
    const { written } = await calibrated([{}, noisy, {}]);
    expect((await compared({ facts: { node: 'node-2' } }, written)).exit).toBe(3);
    expect((await compared({ facts: { node: 'node-3' } }, written)).exit).toBe(0);
  });

  test('that changed since the run was planned is exit 1', async () => {
    const { path } = await calibrated([{}]);
    const run = join(scratch, `planned-${places++}`);
    mkdirSync(run);
    writeFileSync(join(run, 'pod.log'), madeLog({ facts: { node: 'node-1' } }));
    const plan = (digest: string) =>
      jsonText({
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

        calibration: {
          path,
          sha256: digest,
        },
        files: {},
        inputsSha256: '0'.repeat(64),
      });
    writeFileSync(join(run, 'run.json'), plan('1'.repeat(64)));
    const { exit, stderr } = await runTool(main, ['--run', run]);
    expect(stderr).toContain('has changed since the run was planned');
    expect(exit).toBe(1);
    writeFileSync(join(run, 'run.json'), plan(sha256(readFileSync(path))));
    expect((await runTool(main, ['--run', run])).exit).toBe(0);
  });
});

/** `plan` as a program: what it writes, what it leaves alone, what it refuses. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
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
import { basename, join } from 'node:path';
import * as v from 'valibot';
import type { Calibration } from '../../schemas/calibration.ts';
import { plan as planSchema } from '../../schemas/plan.ts';
import { profile as profileSchema } from '../../schemas/profile.ts';
import { run as runSchema } from '../../schemas/run.ts';
import { values as valuesSchema } from '../../schemas/values.ts';
import { sha256 } from '../../shared/files.ts';
import { type Outside, runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-plan-'));
const bin = join(cwd, 'bin');
const executable = (name: string): void => writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
beforeAll(() => {
  mkdirSync(bin);
  for (const name of ['bun', 'taskset', 'sort', 'awk']) executable(name);
  writeFileSync(join(cwd, 'plain.json'), PLAIN);
});
afterAll(() => rmSync(cwd, { recursive: true }));

const PLAIN = JSON.stringify({
  name: 'sorting',
  rule: 'sorting',
  about: '',
  repeat: 5,
  targets: [
    { name: 'awk', role: 'candidate', command: ['awk', '1'] },
    { name: 'sort', role: 'reference', command: ['sort', 'data'] },
  ],
});
/** A calibration of size 50 with as many runs on each node. */
const calibrationOf = (runs: Record<string, number>): Calibration => ({
  format: 'calibration/1',
  run: 'k8sbench-cal-x',
  at: '2026-01-02T03:04:05.000Z',
  profile: 'durable-store',
  rule: 'store',
  commit: '',
  delivery: 'local',
  image: '',
  bundleSha256: '',
  artifacts: {},
  gate: 'cpu',
  maxCv: 0.05,
  sizes: {
    50: {
      judged: true,
      pass: true,
      problems: [],
      noise: {},
      nodes: Object.fromEntries(
        Object.entries(runs).map(([node, count]) => [
          node,
          {
            runs: count,
            noise: {},
            warmDrift: null,
            throttle: { samples: count, throttledSamples: 0, nrThrottled: 0, throttledUsec: 0 },
            clock: { governors: {}, scaling: false, mhz: null, mhzCv: null, cpuMhzCorrelation: null },
            pass: true,
            problems: [],
          },
        ]),
      ),
    },
  },
  inputs: {},
});
const plan = (args: string[], outside: Outside = {}) =>
  runTool(main, args, { cwd, env: { PATH: bin }, host: 'here', ...outside });
const read = (dir: string) => {
  const text = (name: string): string => readFileSync(join(cwd, dir, name), 'utf8');
  const json = (name: string): unknown => JSON.parse(text(name));
  return {
    text,
    run: v.parse(runSchema, json('run.json')),
    plan: v.parse(planSchema, json('plan.json')),
    profile: v.parse(profileSchema, json('profile.json')),
    values: v.parse(valuesSchema, json('values.json')),
  };
};

describe('a new run', () => {
  test('four files that agree with each other, and the path on stdout', async () => {
    const { exit, stdout, stderr } = await plan([
      '--local',
      '--turns',
      '50,500',
      '--rounds',
      '4',
      '--out',
      'a',
      '--purpose',
      'pr',
    ]);
    expect([exit, stdout]).toEqual([0, 'a/k8sbench-cmp-durable-store-20260102-030405\n']);
    const made = read(stdout.trim());
    expect(made.run).toMatchObject({
      run: 'k8sbench-cmp-durable-store-20260102-030405',
      mode: 'compare',
      planned_at: '2026-01-02T03:04:05.678Z',
      delivery: 'local',
      host: 'here',
      cwd,
      gate: 'auto',
      maxCv: 0.05,
      purpose: 'pr',
      session_s: 20520,
      programs: { journal: join(bin, 'bun'), sqlite: join(bin, 'bun'), memory: join(bin, 'bun') },
    });
    for (const [name, digest] of Object.entries(made.run.files))
      expect([name, sha256(made.text(name))]).toEqual([name, digest]);
    expect(Object.keys(made.run.files).toSorted()).toEqual(['plan.json', 'profile.json', 'values.json']);
    expect(made.plan.compactSha256).toBe(sha256(JSON.stringify(JSON.parse(made.text('plan.json')).compact)));
    expect(made.plan.compact.profile).toEqual(made.profile);
    expect(made.plan.compact).toMatchObject({
      run: made.run.run,
      turns: [50, 500],
      rounds: 4,
      pin: 'auto',
      cpus: 2,
      delivery: 'local',
    });
    expect(
      made.plan.steps.filter((one) => one.step === 'seed').map((one) => `${one.target} ${one.turns}`),
    ).toEqual(['journal 50', 'sqlite 50', 'sqlite 500', 'journal 500']);
    expect(made.plan.steps.filter((one) => one.step === 'sample')).toHaveLength(4 * 2 * 3);
    expect(stderr).toContain("the workload runs on 'bun'");
    expect(stderr).toContain('steps    4 seeds + 24 samples');
  });

  test('nothing of this machine is in the compact plan', async () => {
    const { stdout } = await plan(['--local', '--out', '-']);
    const compact = JSON.stringify(JSON.parse(stdout).compact);
    for (const own of [cwd, tmpdir(), 'here', import.meta.dir]) expect(compact).not.toContain(own);
  });

  test('out hides itself from git while it is new, and is left alone when something is in it', async () => {
    await plan(['--local', '--out', 'b']);
    expect(readFileSync(join(cwd, 'b/.gitignore'), 'utf8')).toBe('*\n');
    // As a plan leaves it that was killed before it was hidden.
    mkdirSync(join(cwd, 'begun'));
    writeFileSync(join(cwd, `begun/.gitignore.${crypto.randomUUID()}.tmp`), '');
    await plan(['--local', '--out', 'begun']);
    expect(readdirSync(join(cwd, 'begun')).filter((one) => one.startsWith('.'))).toEqual(['.gitignore']);
    mkdirSync(join(cwd, 'c'));
    writeFileSync(join(cwd, 'c/track.jsonl'), '');
    await plan(['--local', '--out', 'c']);
    expect(existsSync(join(cwd, 'c/.gitignore'))).toBe(false);
  });

  test('plans of one second get names of their own, also side by side', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => plan(['--local', '--out', 'd'])));
    const names = all.map((one) => one.stdout.trim());
    expect(new Set(names).size).toBe(8);
    expect(names.map((name) => basename(name)).toSorted()[7]).toBe(
      'k8sbench-cmp-durable-store-20260102-030405-8',
    );
    for (const name of names) expect(read(name).plan.compact.run).toBe(basename(name));
  });

  test('sessions are children with plans of their own', async () => {
    const { stdout } = await plan(['--local', '--sessions', '3', '--order', 'balanced', '--out', 'e']);
    const dir = stdout.trim();
    const name = basename(dir);
    const children = [1, 2, 3].map((k) => `${name}-n${k}`);
    expect(read(dir).run).toMatchObject({ sessions: 3, children });
    expect(readdirSync(join(cwd, dir)).toSorted()).toEqual([
      ...children,
      'plan.json',
      'profile.json',
      'run.json',
      'values.json',
    ]);
    const each = children.map((child) => read(join(dir, child)));
    for (const [at, child] of each.entries()) {
      expect(child.run).toMatchObject({
        run: children[at],
        parent: name,
        programs: { sqlite: join(bin, 'bun') },
      });
      expect(child.run.sessions).toBeUndefined();
      expect(child.plan.compact.run).toBe(children[at]!);
    }
    expect(new Set(each.map((one) => JSON.stringify(one.plan.steps))).size).toBeGreaterThan(1);
  });

  test('a calibration measures the reference alone, and needs the programs of no other', async () => {
    rmSync(join(bin, 'awk'));
    const { exit, stdout } = await plan([
      '--local',
      '--mode',
      'calibrate',
      '--profile',
      'plain.json',
      '--out',
      'f',
    ]);
    executable('awk');
    expect([exit, stdout]).toEqual([0, 'f/k8sbench-cal-sorting-20260102-030405\n']);
    const { plan: made, run } = read(stdout.trim());
    expect(new Set(made.steps.map((one) => one.target))).toEqual(new Set(['sort']));
    expect(run.programs).toEqual({ sort: join(bin, 'sort') });
  });

  test('--aa adds the reference once more', async () => {
    const { stdout } = await plan(['--local', '--profile', 'plain.json', '--aa', '--out', 'g']);
    const { profile, plan: made, run } = read(stdout.trim());
    expect(run.programs).toMatchObject({ 'sort-control': join(bin, 'sort') });
    expect(profile.targets.at(-1)).toEqual({
      name: 'sort-control',
      role: 'control',
      command: ['sort', 'data'],
    });
    expect(made.steps.filter((one) => one.target === 'sort-control')).toHaveLength(13);
  });

  test('plain commands have one size: the number of their processes', async () => {
    const { stdout } = await plan(['--local', '--profile', '-', '--out', '-'], { stdin: PLAIN });
    expect(JSON.parse(stdout).compact.turns).toEqual([5]);
  });

  test.each([[['--out', '-']], [['--dry-run', '--out=nowhere']]])(
    '%j prints the plan and writes nothing',
    async (args) => {
      const before = readdirSync(cwd);
      const { exit, stdout, stderr } = await plan(['--local', ...args]);
      expect([exit, readdirSync(cwd)]).toEqual([0, before]);
      expect(v.is(planSchema, JSON.parse(stdout))).toBe(true);
      expect(stderr).toContain('2 seeds + 36 samples');
    },
  );

  test('in a cluster: nodes, claim and delivery are recorded', async () => {
    const image = `registry.example/bench@sha256:${'a'.repeat(64)}`;
    const { exit, stdout } = await plan([
      '--namespace',
      'team',
      '--image',
      image,
      '--nodes',
      'x,y,z',
      '--spread',
      '2',
      '--out',
      'h',
    ]);
    expect(exit).toBe(0);
    const { run, values, plan: made } = read(stdout.trim());
    expect(run).toMatchObject({ delivery: 'image', nodes: ['x', 'y', 'z'], spread: 2, pickNode: true });
    expect(run.children).toHaveLength(2);
    expect(run).not.toHaveProperty('host');
    expect(values).toMatchObject({ namespace: 'team', image });
    expect(made.compact.profile.targets[0]!.sample![0]).toBe('node');
  });
});

describe('a run that is named', () => {
  const files = ['run.json', 'plan.json', 'profile.json', 'values.json'];
  const state = (dir: string) => files.map((file) => readFileSync(join(cwd, dir, file), 'utf8'));

  test('is made, then skipped and touched, then refused for other inputs, then forced', async () => {
    const args = ['--local', '--run', 'n/mine'];
    expect((await plan(args)).stdout).toBe('n/mine\n');
    const first = state('n/mine');
    for (const file of files) utimesSync(join(cwd, 'n/mine', file), 1, 1);
    const again = await plan(args, { now: 0 });
    expect([again.exit, again.stdout]).toEqual([0, 'n/mine\n']);
    expect(again.stderr).toContain("'n/mine' is there already, planned from the same inputs");
    expect(state('n/mine')).toEqual(first);
    for (const file of files) expect(statSync(join(cwd, 'n/mine', file)).mtimeMs).toBeGreaterThan(1000);

    const other = await plan([...args, '--rounds', '5', '--pin', 'none']);
    expect([other.exit, other.stdout, state('n/mine')]).toEqual([2, '', first]);
    expect(other.stderr).toContain(
      "'n/mine' was planned from other inputs (rounds, pin); plan another run, or plan this one again with '--force'",
    );

    expect((await plan([...args, '--rounds', '5', '--force'])).exit).toBe(0);
    expect(read('n/mine').plan.compact.rounds).toBe(5);
    writeFileSync(join(cwd, 'n/mine/job.json'), '{}');
    const started = await plan([...args, '--rounds', '6', '--force']);
    expect([started.exit, started.stderr]).toEqual([2, expect.stringContaining('was started')]);
    expect((await plan([...args, '--rounds', '5'])).exit).toBe(0);
  });

  test('a forced plan with fewer sessions leaves no child behind; a started child is kept', async () => {
    await plan(['--local', '--run', 'n/many', '--sessions', '3']);
    expect((await plan(['--local', '--run', 'n/many', '--sessions', '2', '--force'])).exit).toBe(0);
    expect(
      readdirSync(join(cwd, 'n/many'))
        .filter((one) => one.includes('-n'))
        .toSorted(),
    ).toEqual(['many-n1', 'many-n2']);
    writeFileSync(join(cwd, 'n/many/many-n2/job.json'), '{}');
    expect((await plan(['--local', '--run', 'n/many', '--force'])).exit).toBe(2);
  });

  test('what a killed plan left is finished', async () => {
    await plan(['--local', '--run', 'n/torn']);
    const whole = state('n/torn');
    rmSync(join(cwd, 'n/torn/plan.json'));
    expect((await plan(['--local', '--run', 'n/torn'])).exit).toBe(0);
    expect(state('n/torn')).toEqual(whole);
    for (const file of files) rmSync(join(cwd, 'n/torn', file));
    writeFileSync(join(cwd, 'n/torn/plan.json.0.tmp'), '{');
    expect((await plan(['--local', '--run', 'n/torn'])).exit).toBe(0);
  });

  test('its path may come from stdin', async () => {
    expect((await plan(['--local', '--run', '-'], { stdin: 'n/piped\n' })).stdout).toBe('n/piped\n');
  });

  test.each([
    ['n/Mine', "'Mine' can't be a run's name"],
    [`n/${'x'.repeat(64)}`, "can't be a run's name"],
  ])('refuses --run %s', async (dir, sentence) => {
    const { exit, stderr } = await plan(['--local', '--run', dir]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });

  test('a directory of something else is left alone', async () => {
    mkdirSync(join(cwd, 'n/other'), { recursive: true });
    writeFileSync(join(cwd, 'n/other/thesis.txt'), '');
    const { exit, stderr } = await plan(['--local', '--run', 'n/other', '--force']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("it holds 'thesis.txt'")]);
    await plan(['--local', '--run', 'n/parent', '--sessions', '2']);
    expect((await plan(['--local', '--run', 'n/parent/parent-n1'])).stderr).toContain(
      "is a part of run 'parent'",
    );
  });
});

describe('what is refused', () => {
  test('everything at once, in one message, with nothing written', async () => {
    writeFileSync(join(cwd, 'bad.yaml'), 'cpu: 4\n');
    const before = readdirSync(cwd);
    const { exit, stdout, stderr } = await plan([
      '--values',
      'bad.yaml',
      '--profile',
      'plain.json',
      '--turns',
      '50',
      '--image',
      'bench:1',
      '--node',
      'a',
      '--pick-node',
      '--mode',
      'calibrate',
      '--aa',
      '--force',
    ]);
    expect([exit, stdout, readdirSync(cwd)]).toEqual([2, '', before]);
    for (const sentence of [
      'bad.yaml:1: cpu: unknown key',
      'no namespace: set it with --namespace',
      "'bench:1' is not pinned",
      "'--node' excludes '--pick-node'",
      "'--aa' has no meaning for a calibration",
      "'--force' needs --run",
      "flag '--turns': plain commands have no size",
    ])
      expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(7);
  });

  test.each<[string[], string, Outside?]>([
    [[], 'nothing says what to run and where'],
    [['--local', '--profile', 'nope'], "no profile 'nope'; built in are durable-store, runtimes"],
    [['--local', '--rounds', '2'], "flag '--rounds': expected a whole number ≥ 3"],
    [['--local', '--turns', '0'], "flag '--turns'"],
    [['--local', '--max-cv', '0'], "flag '--max-cv'"],
    [['--local', '--max-cv', 'Infinity'], "flag '--max-cv'"],
    [['--local', '--pin', '1-0'], "flag '--pin': expected auto, none or a list"],
    [['--local', '--pin', '99999'], 'CPUs 99999 are not among those'],
    [['--local', '--commit', 'abc'], "flag '--commit': expected at least 7 hex digits"],
    [['--local', '--purpose', 'a b'], "flag '--purpose': expected a word"],
    [['--local', '--node-selector', 'a'], "flag '--node-selector': expected key=value"],
    [['--local', '--bundle', 'none'], "bundle 'none' is not a directory"],
    [
      ['--bundle', 'none', '--base-image', `node@sha256:${'0'.repeat(64)}`, '--namespace', 'x'],
      "bundle 'none' is not a directory",
    ],
    [
      ['--local', '--profile', '-', '--values', '-'],
      "'--profile -' and '--values -': stdin is read once",
      { stdin: PLAIN },
    ],
    [
      ['--local', '--profile', 'plain.json', '--pin', 'none'],
      "target 'sort', command: 'sort' is not on the PATH",
      { env: { PATH: '' } },
    ],
    [['--local', '--profile', 'plain.json'], "'taskset' is not on the PATH", { env: { PATH: '' } }],
    [
      ['--local', '--calibration', 'none.json'],
      "flag '--calibration': calibration 'none.json' does not exist",
    ],
    [
      ['--local', '--rounds', '10000', '--turns', Array.from({ length: 40 }, (_, at) => at + 1).join()],
      '1200000 samples are more than',
    ],
    [
      ['--image', `b@sha256:${'a'.repeat(64)}`, '--namespace', 'x', '--rounds', '1000'],
      'the log of 3002 steps may reach',
    ],
    [
      ['--image', `b@sha256:${'a'.repeat(64)}`, '--namespace', 'x', '--calibration', 'f.json'],
      "'--calibration' needs a session on known nodes",
    ],
  ])('%j', async (args, sentence, outside) => {
    const { exit, stdout, stderr } = await plan(args, outside);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
  });

  test('a plan that no pod takes', async () => {
    const big = JSON.parse(PLAIN) as { targets: { command: string[] }[] };
    big.targets[0]!.command.push('x'.repeat(101 << 10));
    const { stderr } = await plan(['--local', '--profile', '-'], { stdin: JSON.stringify(big) });
    expect(stderr).toContain('bytes, and a pod takes 102400');
  });

  test('a calibration that does not fit is exit 3, after everything else fits', async () => {
    writeFileSync(join(cwd, 'cal.json'), JSON.stringify(calibrationOf({ here: 11, there: 12 })));
    const fits = await plan(['--local', '--calibration', 'cal.json', '--turns', '50', '--out', 'k']);
    expect([fits.exit, fits.stdout]).toEqual([3, '']);
    expect(fits.stderr).toContain("has 11 runs at 50 turns on node 'here', and 12 are needed");
    const usage = await plan(['--local', '--calibration', 'cal.json', '--turns', '50', '--pin', '9999']);
    expect(usage.exit).toBe(2);
    mkdirSync(join(cwd, 'cal-run'));
    writeFileSync(join(cwd, 'cal-run/calibration.json'), JSON.stringify(calibrationOf({ here: 12 })));
    const { exit, stdout } = await plan([
      '--local',
      '--calibration',
      'cal-run',
      '--turns',
      '50',
      '--out',
      'k',
    ]);
    expect(exit).toBe(0);
    const path = join(cwd, 'cal-run/calibration.json');
    expect(read(stdout.trim()).run.calibration).toEqual({ path, sha256: sha256(readFileSync(path)) });
  });
});

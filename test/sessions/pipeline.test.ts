/** The pipelines, the shell pipeline and the Makefile of fixtures/pipelines, run for real on tiny commands. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-pipelines-'));
const fixtures = resolve(import.meta.dir, '../../fixtures/pipelines');
const bin = join(scratch, 'bin');
beforeAll(() => {
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'k8sbench'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dir, 'pipeline-k8sbench.ts')}' "$@"\n`,
  );
  chmodSync(join(bin, 'k8sbench'), 0o755);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
const place = (): string => {
  const dir = join(scratch, `work-${made++}`);
  mkdirSync(dir);
  return dir;
};
const run = (cwd: string, words: string[], env: Record<string, string> = {}) => {
  const done = Bun.spawnSync(words, {
    cwd,
    stdin: 'ignore',
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, NO_COLOR: '1', ...env },
  });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};
const k8sbench = (cwd: string, args: string[], env?: Record<string, string>) =>
  run(cwd, ['k8sbench', ...args], env);
/** Every file below a directory with its content. */
const filesBelow = (dir: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(dir, { recursive: true }) as string[])
      .filter((name) => statSync(join(dir, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(dir, name), 'utf8')]),
  );
const runsIn = (out: string): string[] =>
  readdirSync(out).filter((one) => statSync(join(out, one)).isDirectory());
const linesOf = (path: string): Record<string, unknown>[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    : [];

const SLEEPS = [
  '--local',
  '--reference',
  'sleep 0.01',
  '--candidate',
  'sleep 0.012',
  '--rounds',
  '3',
  '--repeat',
  '2',
];

describe('compare', () => {
  test('plans, measures, judges and records two plain commands', () => {
    const dir = place();
    const { exit, stdout, stderr } = k8sbench(dir, ['compare', ...SLEEPS, '--max-cv', '9']);
    expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(1);
    expect(lines).toEqual(linesOf(join(dir, 'out', 'track.jsonl')));
    const [name] = runsIn(join(dir, 'out'));
    expect(lines[0]).toMatchObject({ turns: 2, run: expect.stringContaining(name!) });
    for (const file of [
      'run.json',
      'plan.json',
      'job.json',
      'pod.log',
      'MANIFEST.sha256',
      'results.jsonl',
      'noise.json',
      'analysis.json',
    ])
      expect(existsSync(join(dir, 'out', name!, file))).toBe(true);
  }, 60_000);

  test('a refusal for noise: exit 3, no line, the explanation and the directory; it can be passed, or retried', () => {
    const dir = place();
    const noisy = [...SLEEPS, '--max-cv', '0.0000001'];
    const refused = k8sbench(dir, ['compare', ...noisy]);
    expect({ exit: refused.exit, stdout: refused.stdout }).toEqual({ exit: 3, stdout: '' });
    const [name] = runsIn(join(dir, 'out'));
    expect(refused.stderr).toContain(`'out/${name}'`);
    expect(existsSync(join(dir, 'out', 'track.jsonl'))).toBe(false);
    expect(linesOf(join(dir, 'out', 'attempts.jsonl'))).toEqual([
      expect.objectContaining({ outcome: 'refused', run: name }),
    ]);
    expect(k8sbench(dir, ['compare', ...noisy, '--not-judged', 'pass']).exit).toBe(0);
    const retried = k8sbench(dir, ['compare', ...noisy, '--not-judged', 'retry=1']);
    expect({ exit: retried.exit, stdout: retried.stdout }).toEqual({ exit: 3, stdout: '' });
    expect(runsIn(join(dir, 'out'))).toHaveLength(4);
    expect(linesOf(join(dir, 'out', 'attempts.jsonl'))).toHaveLength(4);
  }, 120_000);

  test.each([
    [['--rounds', '2'], "flag '--rounds': expected a whole number ≥ 3"],
    [
      ['--profile', 'runtimes', '--reference', 'true'],
      "'--profile' and flags that make a profile exclude each other",
    ],
    [['--not-judged', 'retry=2', '--run', 'out/x'], "'--run' names one run"],
    [['--not-judged', 'retry=2', '--profile', '-'], "'-' can be read once"],
    [['--out', '-'], "'--out -' prints the file of one step"],
    [['--not-judged', 'never'], "flag '--not-judged': expected fail, pass, retry=N"],
    [['--allow-incomplete'], "unknown flag '--allow-incomplete'"],
    [['--reference', 'true'], "'--candidate' is missing"],
  ] as const)('%j is refused before anything happens', (args, says) => {
    const dir = place();
    const { exit, stdout, stderr } = k8sbench(dir, ['compare', '--local', ...args]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(readdirSync(dir)).toEqual([]);
  });
});

test('calibrate measures the reference alone; a short one is not judged', () => {
  const dir = place();
  const { exit, stdout, stderr } = k8sbench(dir, ['calibrate', ...SLEEPS]);
  const [name] = runsIn(join(dir, 'out'));
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `out/${name}\n` });
  expect(stderr).not.toContain('error');
  expect(JSON.parse(readFileSync(join(dir, 'out', name!, 'calibration.json'), 'utf8'))).toMatchObject({
    sizes: { 2: { judged: false } },
  });
  const again = k8sbench(dir, ['report', '--run', `out/${name}`, '--gate', 'wall']);
  expect({ exit: again.exit, stdout: again.stdout }).toEqual({ exit: 0, stdout: `out/${name}\n` });
  expect(existsSync(join(dir, 'out', 'track.jsonl'))).toBe(false);
}, 60_000);

test('report judges a finished run again with other flags, removes what no longer holds, and records it again', () => {
  const dir = place();
  expect(k8sbench(dir, ['compare', ...SLEEPS, '--max-cv', '9']).exit).toBe(0);
  const [name] = runsIn(join(dir, 'out'));
  const here = join(dir, 'out', name!);
  const measured = readFileSync(join(here, 'MANIFEST.sha256'), 'utf8');
  const again = k8sbench(dir, ['report', '--run', `out/${name}`]);
  expect(again.exit).toBe(0);
  expect(linesOf(join(dir, 'out', 'track.jsonl'))).toHaveLength(2);
  writeFileSync(join(dir, 'baseline.json'), '{"core": "0123456789", "warm": 6}');
  const other = k8sbench(dir, ['report', '--run', `out/${name}`, '--baseline', 'baseline.json']);
  expect(other.exit).toBe(0);
  expect(JSON.parse(other.stdout)).toMatchObject({
    baseline: '0123456789',
    delta: { warm: expect.stringContaining('%') },
  });
  const refused = k8sbench(dir, ['report', '--run', `out/${name}`, '--max-cv', '0.0000001']);
  expect({ exit: refused.exit, stdout: refused.stdout }).toEqual({ exit: 3, stdout: '' });
  expect(JSON.parse(readFileSync(join(here, 'analysis.json'), 'utf8'))).toMatchObject({ judged: false });
  expect(linesOf(join(dir, 'out', 'track.jsonl'))).toHaveLength(3);
  expect(readFileSync(join(here, 'MANIFEST.sha256'), 'utf8')).toBe(measured);
  expect(k8sbench(dir, ['report', '--run', `out/${name}`, '--not-judged', 'retry=1']).stderr).toContain(
    'measures nothing',
  );
}, 60_000);

test('from a recorded log and with a fixed clock, the chain by hand gives the same bytes', () => {
  const dir = place();
  const now = { K8SBENCH_NOW: '1767323045678' };
  expect(k8sbench(dir, ['compare', ...SLEEPS, '--max-cv', '9'], now).exit).toBe(0);
  const [recorded] = runsIn(join(dir, 'out'));
  const log = join(scratch, 'recorded.log');
  copyFileSync(join(dir, 'out', recorded!, 'pod.log'), log);
  rmSync(join(dir, 'out'), { recursive: true });

  const fixed = { ...now, RECORDED_LOG: log };
  const args = ['compare', ...SLEEPS, '--max-cv', '9', '--track', "out/it's.jsonl"];
  const chained = k8sbench(dir, args, fixed);
  expect({ exit: chained.exit, stderr: chained.exit === 0 ? '' : chained.stderr }).toEqual({
    exit: 0,
    stderr: '',
  });
  const first = filesBelow(join(dir, 'out'));
  expect(Object.keys(first).length).toBeGreaterThan(10);
  rmSync(join(dir, 'out'), { recursive: true });

  const { stdout: script } = k8sbench(dir, [...args, '--explain'], fixed);
  expect(readdirSync(dir)).toEqual([]);
  writeFileSync(join(scratch, 'by-hand.sh'), script);
  const byHand = run(dir, ['bash', join(scratch, 'by-hand.sh')], fixed);
  expect({ exit: byHand.exit, stderr: byHand.exit === 0 ? '' : byHand.stderr }).toEqual({
    exit: 0,
    stderr: '',
  });
  expect(byHand.stdout).toBe(chained.stdout);
  expect(filesBelow(join(dir, 'out'))).toEqual(first);
}, 60_000);

describe('fixtures/pipelines', () => {
  test('pipeline.sh: single tools joined by pipes', () => {
    const dir = place();
    const { exit, stdout, stderr } = run(dir, ['bash', join(fixtures, 'pipeline.sh'), 'out']);
    expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(linesOf(join(dir, 'out', 'track.jsonl')));
    const [name] = runsIn(join(dir, 'out'));
    expect(existsSync(join(dir, 'out', name!, 'MANIFEST.sha256'))).toBe(true);
  }, 60_000);

  test('Makefile: what is done stays done; after an edit only what depends on it is redone', () => {
    const dir = place();
    copyFileSync(join(fixtures, 'Makefile'), join(dir, 'Makefile'));
    writeFileSync(
      join(dir, 'profile.json'),
      k8sbench(dir, ['profile', '--reference', 'sleep 0.01', '--candidate', 'sleep 0.012', '--repeat', '2'])
        .stdout,
    );
    writeFileSync(join(dir, 'baseline.json'), '{"core": "0123456789", "warm": 10}');
    /** The tools that make called. */
    const make = (...args: string[]): string[] => {
      const { exit, stdout, stderr } = run(dir, ['make', ...args]);
      expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
      return [...stdout.matchAll(/^k8sbench (\S+)/gm)].map((found) => found[1]!);
    };
    const question = (): number => run(dir, ['make', '-q']).exit;
    const track = join(dir, 'out', 'track.jsonl');
    expect(question()).toBe(1);
    expect(make()).toEqual(['plan', 'run-session', 'analyze', 'tracker']);
    expect(question()).toBe(0);
    expect(make()).toEqual([]);
    expect(linesOf(track)).toHaveLength(1);
    const [name] = runsIn(join(dir, 'out'));
    const log = readFileSync(join(dir, 'out', name!, 'pod.log'), 'utf8');

    writeFileSync(join(dir, 'baseline.json'), '{"core": "9876543210", "warm": 20}');
    expect(question()).toBe(1);
    expect(make()).toEqual(['tracker']);
    expect(question()).toBe(0);
    expect(linesOf(track).map((line) => line['baseline'])).toEqual(['0123456789', '9876543210']);

    rmSync(join(dir, 'out', name!, 'analysis.json'));
    expect(make()).toEqual(['analyze', 'tracker']);
    expect(question()).toBe(0);

    run(dir, ['touch', join('out', name!, 'plan.json')]);
    expect(make()).toEqual(['run-session', 'analyze', 'tracker']);
    expect(question()).toBe(0);
    expect(readFileSync(join(dir, 'out', name!, 'pod.log'), 'utf8')).toBe(log);

    const profile = JSON.parse(readFileSync(join(dir, 'profile.json'), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(dir, 'profile.json'), JSON.stringify({ ...profile, about: 'edited' }));
    expect(make()).toEqual(['plan', 'run-session', 'analyze', 'tracker']);
    expect(question()).toBe(0);
    expect(runsIn(join(dir, 'out'))).toHaveLength(2);
  }, 120_000);
});

/** Pipelines as a CI system runs them: its step summary, and the signals by which it cancels. */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-ci-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const place = (): string => mkdtempSync(join(scratch, 'p-'));

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
const start = (cwd: string, args: readonly string[], more: Record<string, string> = {}) =>
  Bun.spawn([join(root, 'tools/k8sbench/main.ts'), ...args], {
    cwd,
    env: {
      ...process.env,
      K8SBENCH_VALUES: undefined,
      GITHUB_STEP_SUMMARY: join(cwd, 'summary.md'),
      ...more,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
const ended = async (child: ReturnType<typeof start>) => {
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exit: await child.exited, stdout, stderr };
};
const run = (cwd: string, args: readonly string[], more: Record<string, string> = {}) =>
  ended(start(cwd, args, more));
const summaryOf = (cwd: string): string => readFileSync(join(cwd, 'summary.md'), 'utf8');
const runOf = (cwd: string): string =>
  readdirSync(join(cwd, 'out')).find((one) => statSync(join(cwd, 'out', one)).isDirectory())!;

describe('the step summary', () => {
  test('of a comparison, judged and refused, and of its report', async () => {
    const cwd = place();
    expect((await run(cwd, ['compare', ...SLEEPS, '--max-cv', '9'])).exit).toBe(0);
    const name = runOf(cwd);
    expect((await run(cwd, ['report', '--run', `out/${name}`, '--max-cv', '0.0000001'])).exit).toBe(3);
    expect((await run(cwd, ['compare', '--local', '--rounds', '2'])).exit).toBe(2);
    const [, judged, refused, ...others] = summaryOf(cwd).split(/^## /m);
    expect(judged).toStartWith('k8sbench compare: judged\n');
    expect(judged).toMatch(/^\| warm \| ms \| [\d.]+ \|.*\| (win|lose|tie|slightly better)/m);
    expect(judged).toContain(`Run directory: <code>out/${name}</code>`);
    expect(refused).toStartWith('k8sbench report: not judged\n');
    expect(refused).toContain("**Why**\n\n- 'reference' at 2 processes a sample: cpu varies");
    // A wrong command line is refused before there is an attempt.
    expect(others).toEqual([]);
  }, 60_000);

  test('of each attempt, and of a failure', async () => {
    const cwd = place();
    const noisy = ['compare', ...SLEEPS, '--max-cv', '0.0000001', '--not-judged', 'retry=1'];
    expect((await run(cwd, noisy)).exit).toBe(3);
    const failing = ['compare', '--local', '--reference', 'true', '--candidate', 'false', '--rounds', '3'];
    expect((await run(cwd, failing)).exit).toBe(1);
    const [, first, second, failed] = summaryOf(cwd).split(/^## /m);
    expect(first).toStartWith('k8sbench compare: not judged (attempt 1 of 2)\n');
    expect(second).toStartWith('k8sbench compare: not judged (attempt 2 of 2)\n');
    expect(failed).toStartWith('k8sbench compare: failed\n');
    expect(failed).toContain('**What went wrong**');
  }, 60_000);

  test('of a calibration; none of what only explains, and none where it is not wanted', async () => {
    const cwd = place();
    await run(cwd, ['compare', ...SLEEPS, '--explain']);
    await run(cwd, ['compare', ...SLEEPS, '--max-cv', '9'], { GITHUB_STEP_SUMMARY: '' });
    expect(readdirSync(cwd)).toEqual(['out']);
    expect((await run(cwd, ['calibrate', ...SLEEPS])).exit).toBe(0);
    expect(summaryOf(cwd)).toStartWith('## k8sbench calibrate: not judged\n');
    expect(summaryOf(cwd)).toContain('| processes | metric | n |');
  }, 60_000);
});

/** A process and all that it started. */
const tree = (pid: number): number[] => [
  pid,
  ...Bun.spawnSync(['pgrep', '-P', String(pid)])
    .stdout.toString()
    .split('\n')
    .filter(Boolean)
    .flatMap((one) => tree(Number(one))),
];

const isMeasuring = (cwd: string): boolean => {
  const out = join(cwd, 'out');
  return existsSync(out) && readdirSync(out).some((one) => existsSync(join(out, one, 'pod.log.partial')));
};

describe('a cancelled pipeline', () => {
  const LONG = [
    'compare',
    '--local',
    '--reference',
    'sleep 0.1',
    '--candidate',
    'sleep 0.11',
    '--rounds',
    '50',
  ];
  test.each<[string, NodeJS.Signals, (pid: number) => number[]]>([
    ['SIGTERM', 'SIGTERM', (pid) => [pid]],
    ['SIGINT', 'SIGINT', (pid) => [pid]],
    ['SIGTERM to all of its processes', 'SIGTERM', tree],
    ['SIGTERM to the session alone', 'SIGTERM', (pid) => tree(pid).slice(1, 2)],
  ])(
    '%s: exit 130, why in the last line, nothing left behind',
    async (_, signal, whom) => {
      const cwd = place();
      const child = start(cwd, LONG);
      const end = ended(child);
      while (!isMeasuring(cwd)) await Bun.sleep(20);
      const all = tree(child.pid);
      for (const pid of whom(child.pid))
        try {
          process.kill(pid, signal);
        } catch (error) {
          // A measured process may have come to its own end meanwhile.
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        }
      const { exit, stdout, stderr } = await end;
      expect({ exit, stdout }).toEqual({ exit: 130, stdout: '' });
      const last = stderr.trimEnd().split('\n').at(-1)!;
      expect(last).toMatch(
        /^run-session: error: 'out\/k8sbench-cmp-[^']+': stopped by (SIGTERM|SIGINT|a signal) before it was done; /,
      );
      expect(summaryOf(cwd)).toStartWith('## k8sbench compare: interrupted\n\n**What went wrong**\n\n- ');
      expect(all.filter((pid) => Bun.spawnSync(['kill', '-0', String(pid)]).exitCode === 0)).toEqual([]);
    },
    30_000,
  );
});

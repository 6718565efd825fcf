/** Sessions that end at a planned look, for real: on every runtime, and through the pipeline to exit 4. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, only, place, plainPlan, run, RUNTIMES, type Runtime, setUp } from './pod-runs.ts';

setDefaultTimeout(60_000);
beforeAll(setUp);
afterAll(cleanUp);

/** Fifty times as long: six rounds of six agree, however busy the machine is. */
const SLOW = ['sleep', '0.25'];
const FAST = ['sleep', '0.005'];
const STOP_WHEN = { looks: [6, 9, 12], margin: 0.03, level: 0.05, seed: 1 };

test.each(Object.keys(RUNTIMES) as Runtime[])(
  'rounds end at the first look that decides, on %s',
  async (runtime) => {
    const plan = plainPlan({ slow: SLOW, fast: FAST }, 2, { rounds: 12, stopWhen: STOP_WHEN });
    const { exit, lines, complete, stderr } = await run(runtime, plan);
    expect({ exit, complete, stderr }).toEqual({ exit: 0, complete: true, stderr: '' });
    expect(lines.slice(-3).map((one) => one.t)).toEqual(['stop', 'done', 'end']);
    expect(only(lines, 'stop')).toMatchObject([
      { rounds: 6, reason: 'every conclusion is reached after 6 of 12 rounds' },
    ]);
    expect(only(lines, 'facts')[0]).toMatchObject({ rounds: 12, stopWhen: STOP_WHEN });
    expect(only(lines, 'sample')).toHaveLength(12);
    expect(only(lines, 'done')[0]).toMatchObject({ samples: 12 });
  },
);

describe('compare --stop-when decided --fail-on slower', () => {
  const cwd = join(place, 'compared');
  const compared = (...flags: string[]) => {
    mkdirSync(cwd, { recursive: true });
    const done = Bun.spawnSync(
      [
        process.execPath,
        join(import.meta.dir, 'pipeline-k8sbench.ts'),
        'compare',
        '--local',
        `--reference=${FAST.join(' ')}`,
        `--candidate=${SLOW.join(' ')}`,
        '--repeat=2',
        '--max-cv=9',
        '--stop-when=decided',
        ...flags,
      ],
      { cwd, env: { ...process.env, NO_COLOR: '1' }, stdin: 'ignore' },
    );
    return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
  };

  test('measures six rounds, says so, records the run, and ends with 4', () => {
    const { exit, stdout, stderr } = compared('--fail-on', 'slower');
    expect(exit).toBe(4);
    const line = JSON.parse(stdout);
    expect(line.more.conclusions).toMatchObject([
      { conclusion: 'slower', rounds: 6, margin: 0.03, basis: 'wall', scope: 'session' },
    ]);
    expect(stderr).toContain('may end after 6 or 9, when decided');
    expect(stderr).toMatch(/stopped early, as planned: every conclusion is reached after 6 of 12 rounds/);
    expect(stderr).toContain('judged, and bad: --fail-on slower is about 1 of 1 conclusion');
    const name = readdirSync(join(cwd, 'out')).find((one) => one.startsWith('k8sbench-cmp-'));
    const analysis = JSON.parse(readFileSync(join(cwd, 'out', name!, 'analysis.json'), 'utf8'));
    expect(analysis).toMatchObject({ exit: 4, judged: true, reasons: [], comparisons: [{ samples: 6 }] });
    expect(readFileSync(join(cwd, 'out', 'track.jsonl'), 'utf8')).toBe(stdout);
  });

  test('ends well where the conclusion is another', () => {
    expect(compared('--fail-on', 'cant-tell').exit).toBe(0);
  });
});

/** Whole sessions that go well, on every runtime. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sequenceOf } from '../../shared/sequence.ts';
import { machineAt } from '../../shared/machine.ts';
import {
  errorOf,
  only,
  OTHER,
  PIN,
  place,
  plainPlan,
  planOf,
  root,
  run,
  RUNTIMES,
  type Runtime,
  start,
  setUp,
  cleanUp,
} from './pod-runs.ts';

setDefaultTimeout(60_000);
beforeAll(setUp);
afterAll(cleanUp);
const ALL = Object.keys(RUNTIMES) as Runtime[];
const ONE_OF_EACH: Runtime[] = ['bun', 'node24'];

/** The steps that a log shows, in order. */
const stepsIn = (lines: readonly Record<string, unknown>[]) =>
  lines
    .filter((line) => ['seed', 'warmup', 'sample'].includes(line['t'] as string))
    .map((line) => ({
      step: line['t'],
      target: line['target'],
      turns: line['turns'],
      sample: line['sample'],
    }));

describe.each([...ALL, 'source' as const])('a whole session on %s', (runtime) => {
  test('has its lines in order, and leaves nothing behind', async () => {
    const plan = planOf(['good'], { turns: [3, 5], warmupRounds: 1, order: 'balanced', orderSeed: 4 });
    const { data, result, child } = start(runtime, plan);
    const { exit, lines, complete, stderr } = await result;
    expect({ exit, complete, stderr, error: only(lines, 'error') }).toEqual({
      exit: 0,
      complete: true,
      stderr: '',
      error: [],
    });
    expect(lines.slice(0, 2).map((line) => line.t)).toEqual(['facts', 'pin']);
    expect(lines.slice(-2).map((line) => line.t)).toEqual(['done', 'end']);
    expect(stepsIn(lines)).toEqual(sequenceOf(plan) as never);
    // A cpu line of the same step stands before each.
    for (const [at, line] of lines.entries())
      if (['seed', 'warmup', 'sample'].includes(line.t))
        expect(lines[at - 1]).toMatchObject({ t: 'cpu', step: line.t, target: line['target'] as string });
    expect(only(lines, 'done')[0]).toMatchObject({ seeds: 4, samples: 12 });
    expect(only(lines, 'seed')[0]).toMatchObject({
      bench_target: 'w',
      seedMs: 1.5,
      fingerprint: 'abc',
      bytes: 7,
      from: 'empty',
      gomaxprocs: 1,
    });
    expect(lines[0]).toMatchObject({
      planSha256: createHash('sha256').update(JSON.stringify(plan)).digest('hex'),
      artifacts: {
        w: createHash('sha256')
          .update(readFileSync(join(root, 'w')))
          .digest('hex'),
      },
      runtime: expect.stringContaining(runtime.startsWith('node') ? 'node v' : 'bun 1'),
    });
    // Fixtures stay where they were asked for; the harness is gone, and so is any cgroup it made.
    expect(existsSync(join(data, 'tested/3/seed.json'))).toBe(true);
    const machine = machineAt('/');
    for (const line of machine.read('/proc/self/mountinfo')!.matchAll(/ (\/sys\/fs\/cgroup\S*) /g))
      expect(machine.list(line[1]!)).not.toContain(`k8sbench-session-${child.pid}`);
  });
});

describe.each(ONE_OF_EACH)('on %s', (runtime) => {
  test('measured processes have their environment, no input, and are pinned', async () => {
    const { lines } = await run(runtime, planOf(['environment']), { env: { GOMAXPROCS: '64' } });
    const sample = only(lines, 'sample').find((line) => line['target'] === 'tested');
    expect(sample).toMatchObject({ gomaxprocs: 1, bench_gomaxprocs: '1', root: '', input: '0' });
    expect(sample!['step']).toMatch(/^[0-9a-f]{16}$/);
    expect(only(lines, 'pin')[0]).toMatchObject({ method: 'list', cpus: PIN });
  });

  test('readings are there, or their reason', async () => {
    const { lines } = await run(runtime, planOf(['burn', '100000']));
    const facts = lines[0]!;
    const cpu = only(lines, 'cpu').filter((line) => line['target'] === 'tested' && line['step'] === 'sample');
    expect(cpu.length).toBe(3);
    for (const line of cpu) {
      expect(line['probeUsec']).toBeGreaterThan(0);
      expect(line['settleMs']).toBeGreaterThanOrEqual(0);
      expect(line['harnessUsec']).toBeGreaterThan(0);
      if (facts['cpuAccounting'] === 'none') expect(facts['cpuAccountingReason']).toBeString();
      else {
        expect(line['usageUsec']).toBeGreaterThan(0);
        // One pinned thread can't use more than the time it lived, but for what is charged at ticks.
        expect(line['usageUsec']).toBeLessThan((line['wallMs'] as number) * 1000 + 10_000);
      }
    }
  });

  test('a floor has no seed, and an empty directory in the first round', async () => {
    const plan = planOf(['good']);
    const floor = `test -d {dir} && test {sample} -gt 0 -o -z "$(ls -A {dir})" && touch {dir}/x && exec {root}/w good`;
    plan.profile.targets.push({ name: 'floor', role: 'floor', sample: ['sh', '-c', floor] });
    const data = join(place, `floor-${runtime}`);
    for (const again of [1, 2]) {
      const { exit, lines } = await run(runtime, plan, { env: { K8SBENCH_DATA: data } });
      expect([again, exit]).toEqual([again, 0]);
      expect(only(lines, 'seed').map((line) => line['target'])).toEqual(['tested', 'steady']);
      expect(only(lines, 'sample').filter((line) => line['target'] === 'floor').length).toBe(3);
    }
  });

  test('calibrate measures the reference alone', async () => {
    const { exit, lines } = await run(runtime, planOf(['crash'], { mode: 'calibrate' }));
    expect(exit).toBe(0);
    expect(new Set(only(lines, 'sample').map((line) => line['target']))).toEqual(new Set(['steady']));
    expect(lines[0]).toMatchObject({ mode: 'calibrate', targets: ['steady'] });
  });

  test('plain commands: turns, fingerprint, CPU time; any output, also to /dev/stdout', async () => {
    const bytes = 30_000_000;
    const plan = plainPlan(
      {
        new: ['head', '-c', String(bytes), '/dev/zero'],
        old: ['sh', '-c', `head -c ${bytes} /dev/zero > /dev/stdout`],
      },
      4,
    );
    const { exit, lines } = await run(runtime, plan);
    expect(exit).toBe(0);
    const fingerprint = createHash('sha256').update(Buffer.alloc(bytes)).digest('hex').slice(0, 16);
    for (const line of only(lines, 'seed'))
      expect(line).toMatchObject({ fingerprint, bytes, from: 'empty', synthetic: true });
    expect(only(lines, 'seed')[0]).not.toHaveProperty('seedMs');
    for (const line of only(lines, 'sample')) {
      expect(line).toMatchObject({ open: 0, fingerprint, turns: 4 });
      expect((line['turn'] as number[]).length).toBe(4);
      if (lines[0]!['cpuAccounting'] !== 'none') {
        expect(line['openCpu']).toBe(0);
        expect((line['turnCpu'] as number[]).every((one) => one > 0)).toBe(true);
      }
    }
    const samples = only(lines, 'cpu').filter((line) => line['step'] === 'sample');
    for (const [at, line] of only(lines, 'sample').entries()) {
      const sum = (line['turn'] as number[]).reduce((all, one) => all + one, 0);
      expect(Math.abs((samples[at]!['wallMs'] as number) - sum)).toBeLessThan(0.001);
    }
  });

  test('plain commands run here, after their preparation', async () => {
    writeFileSync(join(place, 'counter'), '');
    const plan = plainPlan({ new: ['wc', '-c', 'counter'], old: ['true'] }, 2, {
      prepare: ['sh', '-c', 'printf x >> counter'],
      outputCheck: false,
    });
    const { exit, lines } = await run(runtime, plan);
    expect(exit).toBe(0);
    // Two targets: a seed with one preparation, and three rounds of two.
    expect(readFileSync(join(place, 'counter'), 'utf8')).toBe('x'.repeat(2 * (1 + 3 * 2)));
    expect(new Set(only(lines, 'sample').map((line) => line['fingerprint']))).toEqual(new Set(['unchecked']));
  });

  test('output that differs is refused, unless it is not checked', async () => {
    const commands = { new: ['cat', '/proc/sys/kernel/random/uuid'], old: ['true'] };
    const refused = await run(runtime, plainPlan(commands, 2));
    expect(refused.exit).toBe(1);
    expect(errorOf(refused)!['message']).toContain('--no-output-check');
    expect((await run(runtime, plainPlan(commands, 2, { outputCheck: false }))).exit).toBe(0);
  });

  test('without a data directory it uses one of its own and removes it', async () => {
    const temporary = mkdtempSync(join(place, 'tmp-'));
    const plan = planOf(['good']);
    // While it runs its fixtures are in there.
    plan.profile.targets[0]!.seed = ['sh', '-c', `test "$(ls ${temporary})" && exec {root}/w seed {dir}`];
    const { exit } = await run(runtime, plan, { env: { K8SBENCH_DATA: '', TMPDIR: temporary } });
    expect(exit).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('auto chooses the quietest cores when there is a choice', async () => {
    const { exit, lines } = await run(runtime, planOf(['good'], { pin: 'auto', cpus: 1 }));
    const pin = only(lines, 'pin')[0]!;
    const idle = Object.entries(pin['idle'] as Record<string, number>);
    expect(exit).toBe(0);
    if (OTHER === undefined) expect(pin['method']).toBe('all-allowed');
    else {
      expect(pin['method']).toBe('quietest');
      const best = Math.max(...idle.map(([, share]) => share));
      expect(idle.find(([cpu]) => cpu === pin['cpus'])![1]).toBe(best);
    }
  });

  test('none pins nothing', async () => {
    const { exit, lines } = await run(runtime, planOf(['good'], { pin: 'none', cpus: 1 }));
    expect(exit).toBe(0);
    expect(only(lines, 'pin')[0]).toMatchObject({
      method: 'none',
      gomaxprocs: 1,
      cpus: lines[0]!['cpusAllowed'],
    });
  });
});

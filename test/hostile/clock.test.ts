/** A clock that is set back between one step and the next: named where it counts, and every step still ends as it must. */
import { afterAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { mustRun } from './crashes.ts';
import { makeScene } from './scene.ts';

const scene = makeScene('clock', 'cmp-clock');
afterAll(scene.remove);
const LOCAL = [
  '--local',
  '--profile',
  'profile.json',
  '--rounds',
  '3',
  '--allow-frequency-scaling',
  '--pin',
  'none',
];

const at = async (day: string, ...args: string[]) =>
  scene.run(args, { env: { K8SBENCH_NOW: String(Date.parse(`${day}T00:00:00Z`)) } });

test('a session measured, judged and recorded while the clock goes back', async () => {
  expect((await at('2026-06-01', 'plan', ...LOCAL, '--run', 'out/cmp-clock-a')).exit).toBe(0);
  expect((await at('2026-05-01', 'run-session', '--run', 'out/cmp-clock-a')).exit).toBe(0);
  expect((await at('2026-04-01', 'analyze', '--run', 'out/cmp-clock-a', '--max-cv', '9')).exit).toBe(0);
  expect((await at('2026-04-01', 'analyze', '--run', 'out/cmp-clock-a', '--max-cv', '9')).stderr).toContain(
    'check the clock',
  );
  expect((await at('2026-06-01', 'tracker', 'append', '--run', 'out/cmp-clock-a')).exit).toBe(0);
  const track = readFileSync(scene.file('work/out/track.jsonl'), 'utf8');
  const again = await at('2026-03-01', 'tracker', 'append', '--run', 'out/cmp-clock-a');
  expect([again.exit, again.stdout]).toEqual([1, '']);
  expect(again.stderr).toContain('a new line would not count; set the clock');
  expect(readFileSync(scene.file('work/out/track.jsonl'), 'utf8')).toBe(track);
}, 60_000);

test('another run, before lines of a later clock', async () => {
  await mustRun(
    scene,
    'compare',
    ...LOCAL,
    '--run',
    'out/cmp-clock-b',
    '--max-cv',
    '9',
    '--track',
    'own.jsonl',
  );
  const early = await at('2026-01-01', 'tracker', 'append', '--run', 'out/cmp-clock-b');
  expect(early.exit).toBe(0);
  expect(early.stderr).toContain(
    "lines up to 2026-06-01T00:00:00.000Z, and this machine's clock says 2026-01-01T00:00:00.000Z",
  );
  expect(scene.leftovers()).toEqual([]);
}, 60_000);

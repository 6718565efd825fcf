/** Twenty writers at once lose and merge nothing, also with kill -9 among them. */
import { describe, expect, test } from 'bun:test';
import { makeScene } from './scene.ts';
import { writersProblems } from './writers.ts';

describe.each(['track', 'attempts'] as const)('%s', (kind) => {
  test('twenty writers', async () => expect(await writersProblems(kind, 10, 0, 1)).toEqual([]), 60_000);
  test(
    'twenty writers, six of them killed',
    async () => expect(await writersProblems(kind, 60, 6, 2)).toEqual([]),
    60_000,
  );
});

test('tracker append, twenty at once', async () => {
  const scene = makeScene('appends', 'cmp-appends');
  const run = async (...args: string[]) => {
    const ended = await scene.run(args);
    expect({ exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    return ended.stdout;
  };
  const local = [
    '--local',
    '--profile',
    'profile.json',
    '--rounds',
    '3',
    '--allow-frequency-scaling',
    '--pin',
    'none',
  ];
  await run('plan', ...local, '--run', 'out/cmp-appends');
  await run('run-session', '--run', 'out/cmp-appends');
  await run('analyze', '--run', 'out/cmp-appends', '--max-cv', '9');
  const printed = await Promise.all(
    Array.from({ length: 20 }, () => run('tracker', 'append', '--run', 'out/cmp-appends')),
  );
  const track = await Bun.file(scene.file('work/out/track.jsonl')).text();
  expect(new Set(printed).size).toBe(1);
  expect(track).toBe(printed.join(''));
  expect((await run('tracker', 'show', '--json')).split('\n')).toHaveLength(2);
  expect(scene.leftovers()).toEqual([]);
  scene.remove();
}, 120_000);

/** A build goes on when the k8sbench that started it is killed: the next one ends it before it begins the same tree anew. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { makeScene } from './scene.ts';

const scene = makeScene('left-builds', 'no-run');
afterAll(scene.remove);

test('a build of a killed k8sbench writes nothing into the next one', async () => {
  const git = (...args: string[]): void => {
    const own = ['-c', 'user.name=n', '-c', 'user.email=e@x'];
    expect(Bun.spawnSync(['git', ...own, ...args], { cwd: scene.file('work') }).stderr.toString()).toBe('');
  };
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(scene.file('work/program.sh'), '#!/bin/sh\n', { mode: 0o755 });
  git('add', '--all');
  git('commit', '--quiet', '--message', 'one');
  const log = scene.file('builds.txt');
  // The first build stands still in a shell of its own session, as build servers do; the others are quick.
  writeFileSync(
    scene.file('work/build.sh'),
    `if [ -e '${log}' ]; then exit 0; fi\necho begun >>'${log}'\nexec setsid --wait sh -c "sleep 4; echo ended >>'${log}'"\n`,
  );
  const args = [
    'profile',
    '--old',
    'main',
    '--new',
    'WORKTREE',
    '--build',
    `sh ${scene.file('work/build.sh')}`,
    '--sample',
    './program.sh',
  ];
  const killed = scene.run(args, { killedAfter: 3000 });
  for (let waited = 0; !existsSync(log) && waited < 10_000; waited += 20) await Bun.sleep(20);
  expect((await killed).exit).toBeNull();
  expect(scene.leftovers()).not.toEqual([]);
  const again = await scene.run(args);
  expect({ exit: again.exit, stderr: again.exit === 0 ? '' : again.stderr }).toEqual({ exit: 0, stderr: '' });
  expect(again.stderr).toContain('of an earlier build of main');
  expect(scene.leftovers()).toEqual([]);
  expect(readFileSync(log, 'utf8')).toBe('begun\n');
}, 60_000);

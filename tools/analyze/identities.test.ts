import { expect, test } from 'bun:test';
import type { Facts } from '../../schemas/log.ts';
import { sha256 } from '../../shared/files.ts';
import { identitiesOf } from './identities.ts';
import type { MeasuredProfile } from './measured-profile.ts';

const digest = (of: string): string => sha256(of);
const identity = (target: object, artifacts: Record<string, unknown>) =>
  identitiesOf(
    { commit: 'c0', artifacts } as unknown as Facts,
    {
      targets: [{ name: 'x', role: 'candidate', ...target }],
    } as unknown as MeasuredProfile,
  )['x']!;

const all = Object.fromEntries(
  ['bin/store', 'lib/a.ts', 'lib/b.ts', 'dist/a.wasm', '/usr/bin/sort', '/home/me/app.js', 'bun.lock'].map(
    (path) => [path, digest(path)],
  ),
);

test.each<[string, object, string[]]>([
  ['a program below the root', { sample: ['{root}/lib/a.ts'] }, ['lib/a.ts']],
  ['one inside an argument', { sample: ['node', '-wasm={root}/dist/a.wasm'] }, ['dist/a.wasm']],
  [
    'several',
    { seed: ['{root}/lib/a.ts'], sample: ['{root}/lib/b.ts', '{turns}'] },
    ['lib/a.ts', 'lib/b.ts'],
  ],
  ['a directory', { sample: ['{root}/lib'] }, ['lib/a.ts', 'lib/b.ts']],
  ['a bare program of bin/', { sample: ['store'] }, ['bin/store']],
  ['a bare program of the machine', { command: ['sort', '-n', 'data'] }, ['/usr/bin/sort']],
  ['a script', { command: ['node', './app.js'] }, ['/home/me/app.js']],
  ['none that is known', { command: ['rt', 'or', ''] }, []],
])('the identity of %s', (_, target, paths) => {
  const expected =
    paths.length === 0
      ? undefined
      : paths.length === 1
        ? digest(paths[0]!)
        : digest(paths.map((path) => `${digest(path)}  ${path}\n`).join(''));
  expect(identity(target, all).sha256).toBe(expected!);
});

test('a commit is the target’s own, else that of the artifacts; what is no digest is none', () => {
  expect(identity({ commit: 'mine' }, {}).commit).toBe('mine');
  expect(identity({}, {})).toEqual({ commit: 'c0' });
  expect(identity({ role: 'reference' }, {})).toEqual({});
  expect(identity({ sample: ['{root}/a'] }, { a: { nested: true } })).toEqual({ commit: 'c0' });
});

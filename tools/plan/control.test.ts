import { expect, test } from 'bun:test';
import type { Profile, Target } from '../../schemas/profile.ts';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { withControl } from './control.ts';

const store = BUILT_IN['durable-store']!;
const withTarget = (name: string, role: Target['role']): Profile => ({
  ...store,
  targets: [...store.targets, { name, role, seed: ['x'], seedMeta: 'x', sample: ['x'] }],
});

test('the control runs what the reference runs, under its own name', () => {
  const reference = store.targets.find((one) => one.role === 'reference')!;
  const { profile } = withControl(store) as { profile: Profile };
  expect(profile.targets.slice(0, -1)).toEqual(store.targets);
  expect(profile.targets.at(-1)).toEqual({ ...reference, name: 'sqlite-control', role: 'control' });
});

test('a control of its own is kept', () => {
  const own = withTarget('mine', 'control');
  expect(withControl(own)).toEqual({ profile: own });
});

test.each([
  ['a target that has its name', withTarget('sqlite-control', 'candidate'), "has a target 'sqlite-control'"],
  [
    'a name that grows too long',
    {
      ...store,
      targets: store.targets.map((one) => Object.assign({}, one, { name: one.name.padEnd(60, 'x') })),
    },
    'is longer than 63 characters',
  ],
])('refused for %s', (_, profile, sentence) => {
  expect(withControl(profile)).toEqual({ problem: expect.stringContaining(sentence) });
});

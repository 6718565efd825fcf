import { describe, expect, test } from 'bun:test';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { withCandidates } from './candidates.ts';

const store = BUILT_IN['durable-store']!;
const agents = BUILT_IN['overhead-pi']!;
const namesOf = (result: ReturnType<typeof withCandidates>) =>
  'profile' in result ? result.profile.targets.map(({ name, rule }) => [name, rule]) : result.problems;

describe('candidates', () => {
  test('none named: as it is', () => expect(withCandidates(store, undefined)).toEqual({ profile: store }));

  test('some named: those, the reference, the floor', () =>
    expect(namesOf(withCandidates(agents, ['codex']))).toEqual([
      ['pi', undefined],
      ['codex', 'overhead-pi-codex'],
    ]));

  test('the rule of one among several stays what it was', () => {
    const several = {
      ...store,
      targets: [...store.targets, { ...store.targets[0]!, name: 'other' }],
    };
    expect(namesOf(withCandidates(several, ['journal']))).toEqual([
      ['journal', 'store-journal'],
      ['sqlite', undefined],
      ['memory', undefined],
    ]);
  });

  test('what is not there is told, all at once', () =>
    expect(namesOf(withCandidates(store, ['sqlite', 'journal', 'x']))).toEqual([
      "flag '--candidates': profile 'durable-store' has no candidate 'sqlite'; it has journal",
      "flag '--candidates': profile 'durable-store' has no candidate 'x'; it has journal",
    ]));
});

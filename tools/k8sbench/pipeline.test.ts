import { expect, test } from 'bun:test';
import { withNamedCandidates } from './pipeline.ts';

test.each<[string, [string, string[]][], [string, string[]][]]>([
  [
    'a plain command',
    [
      ['reference', ['a']],
      ['candidate', ['b']],
    ],
    [
      ['reference', ['a']],
      ['candidate', ['b']],
    ],
  ],
  [
    'of a profile, by name',
    [
      ['profile', ['p']],
      ['candidate', ['x', 'y']],
    ],
    [
      ['profile', ['p']],
      ['candidates', ['x,y']],
    ],
  ],
  [
    'both spellings',
    [
      ['candidate', ['y']],
      ['profile', ['p']],
      ['candidates', ['x']],
    ],
    [
      ['profile', ['p']],
      ['candidates', ['x,y']],
    ],
  ],
  [
    'beside a reference: for plan to refuse',
    [
      ['profile', ['p']],
      ['reference', ['a']],
      ['candidate', ['b']],
    ],
    [
      ['profile', ['p']],
      ['reference', ['a']],
      ['candidate', ['b']],
    ],
  ],
])('candidates: %s', (_, given, wanted) => expect([...withNamedCandidates(new Map(given))]).toEqual(wanted));

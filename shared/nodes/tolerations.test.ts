import { describe, expect, test } from 'bun:test';
import type { Taint } from './objects.ts';
import { covers, shownTaint, type Toleration, toleratedFor, untolerated } from './tolerations.ts';

const taint: Taint = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' };

describe('a toleration', () => {
  test.each<[string, object, Partial<Taint>, boolean]>([
    [
      'Equal, all the same',
      { key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' },
      {},
      true,
    ],
    ['without operator is Equal', { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }, {}, true],
    ['another value', { key: 'dedicated', value: 'cpu' }, {}, false],
    ['another key', { key: 'other', value: 'gpu' }, {}, false],
    ['another effect', { key: 'dedicated', value: 'gpu', effect: 'NoExecute' }, {}, false],
    ['no effect is every effect', { key: 'dedicated', value: 'gpu' }, { effect: 'NoExecute' }, true],
    ['Exists needs no value', { key: 'dedicated', operator: 'Exists' }, {}, true],
    ['Exists of another key', { key: 'other', operator: 'Exists' }, {}, false],
    ['Exists without key covers all', { operator: 'Exists' }, {}, true],
    ['Exists without key, of one effect', { operator: 'Exists', effect: 'NoExecute' }, {}, false],
    ['no value is an empty value', { key: 'dedicated' }, { value: '' }, true],
    ['an empty value is no value', { key: 'dedicated', value: '' }, { value: '' }, true],
    ['no value is not any value', { key: 'dedicated' }, {}, false],
    ['Gt is not known', { key: 'dedicated', operator: 'Gt', value: '1' }, { value: '2' }, false],
    ['Lt is not known', { key: 'dedicated', operator: 'Lt', value: '3' }, { value: '2' }, false],
    ['nonsense is not known', { operator: 'Always' }, {}, false],
    ['exists, lower case, is not known', { operator: 'exists' }, {}, false],
  ])('%s', (_, toleration, changed, expected) =>
    expect(covers(toleration as Toleration, { ...taint, ...changed } as Taint)).toBe(expected),
  );
});

test('only NoSchedule and NoExecute keep away', () => {
  const taints = ['NoSchedule', 'PreferNoSchedule', 'NoExecute', 'Whatever'].map((effect) => ({
    key: effect,
    effect,
  }));
  expect(untolerated(taints, []).map((one) => one.key)).toEqual(['NoSchedule', 'NoExecute']);
  expect(untolerated(taints, [{ key: 'NoExecute', operator: 'Exists' }]).map(shownTaint)).toEqual([
    'NoSchedule:NoSchedule',
  ]);
  expect(untolerated(undefined, [])).toEqual([]);
  expect(shownTaint(taint)).toBe('dedicated=gpu:NoSchedule');
});

test.each<[string, Taint[], Toleration[], number | undefined]>([
  ['no taint', [], [{ operator: 'Exists', tolerationSeconds: 5 }], undefined],
  ['tolerated for ever', [{ key: 'a', effect: 'NoExecute' }], [{ operator: 'Exists' }], undefined],
  [
    'tolerated for a time',
    [{ key: 'a', effect: 'NoExecute' }],
    [{ key: 'a', operator: 'Exists', tolerationSeconds: 300 }],
    300,
  ],
  [
    'NoSchedule evicts nobody',
    [{ key: 'a', effect: 'NoSchedule' }],
    [{ operator: 'Exists', tolerationSeconds: 300 }],
    undefined,
  ],
  [
    'the shortest of two',
    [
      { key: 'a', effect: 'NoExecute' },
      { key: 'b', effect: 'NoExecute' },
    ],
    [
      { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
      { key: 'b', operator: 'Exists', tolerationSeconds: 30 },
    ],
    30,
  ],
])('%s', (_, taints, tolerations, expected) =>
  expect(toleratedFor(taints, tolerations)).toBe(expected as number),
);

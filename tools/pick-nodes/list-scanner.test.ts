import { describe, expect, test } from 'bun:test';
import { nodeAt, podAt } from '../../test/cluster/population.ts';
import { type Item, listScanner } from './list-scanner.ts';

/** What a text holds when it comes in parts of so many bytes, each in the same buffer, as a file's do. */
const scan = (text: string, size = Number.POSITIVE_INFINITY): [string, Item][] => {
  const found: [string, Item][] = [];
  const scanner = listScanner('list.json', (item, kind) => found.push([kind, item]));
  const bytes = Buffer.from(text);
  const part = Buffer.alloc(Math.min(size, bytes.length));
  for (let at = 0; at < bytes.length; at += size)
    scanner.push(part.subarray(0, bytes.copy(part, 0, at, Math.min(at + size, bytes.length))));
  scanner.end();
  return found;
};
const list = (items: object[], more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'List',
  ...more,
  items,
});
const a = { kind: 'Node', metadata: { name: 'a' } };
const b = {
  kind: 'Pod',
  metadata: { name: 'b', annotations: { x: '"items": [{}] } ] \\', 'y\\"': '{[' } },
  spec: { containers: [[], [{}]] },
};

describe('lists', () => {
  test.each<[string, string, [string, Item][]]>([
    [
      'indented',
      JSON.stringify(list([a, b]), null, 4),
      [
        ['Node', a],
        ['Pod', b],
      ],
    ],
    [
      'on one line',
      JSON.stringify(list([a, b])),
      [
        ['Node', a],
        ['Pod', b],
      ],
    ],
    ['items before kind', JSON.stringify({ items: [a], kind: 'List' }), [['Node', a]]],
    ['empty', JSON.stringify(list([])), []],
    ['null for none', '{"kind":"PodList","items":null}', []],
    [
      'several',
      `${JSON.stringify(list([a]))}\n${JSON.stringify(list([b]))}`,
      [
        ['Node', a],
        ['Pod', b],
      ],
    ],
    [
      'kinds that only the list says',
      '{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"x"},"items":[{"metadata":{"name":"c"}}]}',
      [['Pod', { metadata: { name: 'c' } }]],
    ],
    [
      'a plain array',
      JSON.stringify([a, b]),
      [
        ['Node', a],
        ['Pod', b],
      ],
    ],
    [
      'single objects',
      `${JSON.stringify(a)}\n${JSON.stringify(b)}\n`,
      [
        ['Node', a],
        ['Pod', b],
      ],
    ],
    [
      'other arrays beside',
      JSON.stringify({ x: [1, [2], { items: [3] }], ...list([a]), y: ['z'] }),
      [['Node', a]],
    ],
    ['a byte order mark', `\ufeff${JSON.stringify(list([a]))}`, [['Node', a]]],
    ['nothing', '', []],
  ])('%s', (_, text, found) => {
    expect(scan(text)).toEqual(found);
    for (const size of [1, 2, 3, 7, 64]) expect(scan(text, size)).toEqual(found);
  });

  test('agree with JSON.parse, however they are cut', () => {
    const items = [
      ...Array.from({ length: 3 }, (_, at) => nodeAt(at)),
      ...Array.from({ length: 40 }, (_, at) => podAt(at, 3)),
    ];
    const text = JSON.stringify(list(items), null, 4);
    const expected = items.map((one) => [one['kind'], JSON.parse(JSON.stringify(one))]);
    for (const size of [1, 11, 4096, 65_536, text.length])
      expect(scan(text, size)).toEqual(expected as never);
  });

  test.each<[string, string, RegExp]>([
    [
      'cut inside an item',
      JSON.stringify(list([a, b])).slice(0, -20),
      /list.json: it breaks off after \d+ bytes, inside item 1/,
    ],
    ['cut between items', '{"items":[{"kind":"Pod"}', /breaks off .* inside the list/],
    ['cut inside a text', '{"kind":"Li', /breaks off/],
    ['a page', '<html></html>', /list.json: no list at byte 0; expected what 'kubectl get/],
    ['a table', 'NAME   STATUS\nnode-1 Ready\n', /no list at byte 0/],
    ['YAML', 'apiVersion: v1\n', /no list at byte 0/],
    ['a text', '"x"', /no list/],
    ['another object', '{"a":1}', /no list/],
    ['items that are no array', '{"kind":"List","items":{}}', /no list/],
    ['an item that is no object', '{"items":[1]}', /something that is no object at byte 10/],
    ['an item that is an array', '{"items":[[]]}', /something that is no object/],
    ['an item that is a text', '{"items":["a"]}', /something that is no object/],
    [
      'an item that is no JSON',
      '{"kind":"List","items":[{"kind":"Pod"},{"a":}]}',
      /item 1 is no JSON at byte \d+/,
    ],
    ['brackets that do not fit', '{"items":[{"a":[}]}]}', /expected what/],
    ['a list that is no JSON', '{"kind":,"items":[]}', /the list is no JSON/],
    ['something after', '{"kind":"List","items":[]} x', /no list at byte 27/],
    ['a bracket too many', '{"kind":"List","items":[]}}', /unexpected '}'/],
    ['items without a kind', '{"items":[{"metadata":{}}]}', /item 0 has no kind/],
    [
      'a refusal',
      '{"kind":"Status","status":"Failure","message":"nodes is forbidden"}',
      /the API server's answer is 'nodes is forbidden'/,
    ],
  ])('%s', (_, text, says) => {
    for (const size of [1, 5, 1000]) expect(() => scan(text, size)).toThrow(says);
  });
});

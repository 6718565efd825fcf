import { describe, expect, test } from 'bun:test';
import { parse } from 'yaml';
import { AWKWARD } from '../test/cluster/awkward.ts';
import { parseForeignYaml } from './yaml.ts';
import { formatYaml } from './yaml-format.ts';

/** What readers of YAML 1.2 and of 1.1 make of a text. */
const readers = [
  (text: string): unknown => parse(text, { version: '1.2', schema: 'core' }),
  (text: string): unknown => parse(text, { version: '1.1', schema: 'yaml-1.1' }),
];
const back = (value: unknown): unknown[] =>
  [false, true].flatMap((plain) => readers.map((read) => read(formatYaml(value, { plain }))));

describe('formatYaml', () => {
  test.each(AWKWARD)('%j survives as value, in a list, and as key', (text) => {
    const value = { at: text, list: [text, [text]], [text]: { [text]: text } };
    for (const read of back(value)) expect(read).toEqual(value);
  });

  test.each<[string, unknown]>([
    ['numbers and booleans', { a: 0, b: -1.5, c: true, d: false, e: null, f: 1e21 }],
    ['nothing', {}],
    ['empty things inside', { a: [], b: {}, c: '', d: [{}, [], ''] }],
    ['lists of maps of lists', { a: [{ b: [{ c: 1, d: [2, 3] }], e: 4 }, [[5], [6, [7]]]] }],
    ['lines', { a: 'one\ntwo\nthree', b: 'one\n\n  two\nthree\n', c: ['x\ny\nz\n', { d: 'x\ny\nz' }] }],
    [
      'lines that are no block',
      { a: ' x\ny\nz', b: 'x \ny\nz', c: 'x\ny\nz\n\n', d: '\nx\ny', e: 'x\ty\n\nz', f: 'ü\nx\ny' },
    ],
    ['lines that look like YAML', { a: '---\n- b: c\n# d\n...\n', b: '"\n{\n}' }],
  ])('%s', (_, value) => {
    for (const read of back(value)) expect(read).toEqual(value);
  });

  test('any text survives', () => {
    let state = 7;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    const letters = [
      ...' \n\t\r\'"\\:#-?{}[],&*!|>%@`=~0123abcnoyes\u0000\u001b\u007f\u0085\u00a0\u2028\ufeff\uffff😀é',
    ];
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: random(12) }, () => letters[random(letters.length)]!).join('');
      for (const read of back({ a: text, b: [text] })) expect(read).toEqual({ a: text, b: [text] });
    }
  });

  test('is stable and readable', () =>
    expect(
      formatYaml({
        kind: 'Job',
        spec: { 'a.b/c': 1, list: [{ name: 'x', args: ['y'] }], script: 'set -u\n\nexec x\n' },
      }),
    ).toBe(
      'kind: "Job"\nspec:\n  a.b/c: 1\n  list:\n    - name: "x"\n      args:\n        - "y"\n  script: |\n    set -u\n\n    exec x\n',
    ));

  test('stands without quotes where it can be nothing else', () =>
    expect(
      formatYaml(
        { apiVersion: 'batch/v1', image: 'a.b/c@sha256:0f', on: 'yes', port: '80', at: '/x', 'k/v1': 'a b' },
        { plain: true },
      ),
    ).toBe('apiVersion: batch/v1\nimage: a.b/c@sha256:0f\n"on": "yes"\nport: "80"\nat: /x\nk/v1: "a b"\n'));

  test.each([[{ a: '\ud800' }], [{ a: Number.NaN }]])('refuses %p', (value) =>
    expect(() => formatYaml(value)).toThrow("can't write"),
  );
});

test('foreign YAML is read with anchors and refused when it is none', () => {
  expect(parseForeignYaml('a: &x {b: 1}\nc: *x\n', 'f')).toEqual({ a: { b: 1 }, c: { b: 1 } });
  expect(() => parseForeignYaml('b: 1\na: [', 'some/file')).toThrow(
    /^some\/file:2: expected YAML: Flow sequence .* end with a \]$/,
  );
  expect(() => parseForeignYaml('a: *x', 'f')).toThrow(/^f: expected YAML: Unresolved alias/);
});

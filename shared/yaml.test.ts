import { describe, expect, test } from 'bun:test';
import { Failure } from './failure.ts';
import { parseYaml } from './yaml.ts';

const problemsOf = (written: string): readonly string[] => {
  try {
    parseYaml(written, 'f');
    return [];
  } catch (error) {
    if (error instanceof Failure && error.exit === 2) return error.problems;
    throw error;
  }
};

describe('what is read', () => {
  test.each<[string, unknown]>([
    ['a: 1\nb: x', { a: 1, b: 'x' }],
    ['---\na: 1\n', { a: 1 }],
    ['a: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
    ['\ufeffa: 1', { a: 1 }],
    ['{"a": [1, "x", null, true, {}]}', { a: [1, 'x', null, true, {}] }],
    ['a:\nb: ~\nc: null', { a: null, b: null, c: null }],
    ['a: true\nb: False\nc: TRUE', { a: true, b: false, c: true }],
    ['a: .5\nb: 5.\nc: +1\nd: 1e3\ne: 0\nf: 1.50', { a: 0.5, b: 5, c: 1, d: 1000, e: 0, f: 1.5 }],
    [`a: "no"\nb: 'y'\n"on": "0644"\nc: "1_000"`, { a: 'no', b: 'y', on: '0644', c: '1_000' }],
    [
      'a: 1.2.3\nb: 2026-01-02\nc: x_1\nd: nope\ne: 8Gi\nf: 10m',
      { a: '1.2.3', b: '2026-01-02', c: 'x_1', d: 'nope', e: '8Gi', f: '10m' },
    ],
    ['a: |\n  one\n  two\nb: >\n  one\n  two\n', { a: 'one\ntwo\n', b: 'one two\n' }],
    ['# nothing\n', undefined],
    ['', undefined],
  ])('%j', (written, value) => expect(parseYaml(written, 'f').value).toEqual(value));

  test('each part knows its line', () => {
    const { lineOf } = parseYaml('# head\na: 1\nb:\n  c: 2\n  d:\n    - x\n    - e: 5\n', 'f');
    const lines = [['a'], ['b'], ['b', 'c'], ['b', 'd'], ['b', 'd', 0], ['b', 'd', 1, 'e'], ['b', 'missing']];
    expect(lines.map((path) => lineOf!(path))).toEqual([2, 3, 4, 5, 6, 7, 3]);
  });
});

describe('what kubectl reads otherwise is refused with its line', () => {
  test.each(
    (
      'y Y yes Yes YES n N no No NO on On ON off Off OFF 0644 00 0o17 0b101 +0b1 0x1F -0x1F 1_000 1__0 0777_7 0.1_0 ' +
      '685.230_15e+03 +1_0 1_0e3 1:2 12:30:45 190:20:30.15 .inf -.Inf +.INF .nan .NaN = << 0O17 -0o_1 0x_1 +_1 1e400'
    ).split(' '),
  )('%s', (source) => {
    expect(problemsOf(`ok: 1\na: ${source}`)).toEqual([
      `f:2: '${source}' is read differently by kubectl; quote it, or write it as a decimal number, true or false`,
    ]);
    expect(problemsOf(`a: "${source}"`)).toEqual([]);
    expect(problemsOf(`list:\n  - ${source}`)[0]).toStartWith('f:2:');
  });

  test.each(['y', 'on', 'NO', '<<'])('as a key: %s', (key) => {
    expect(problemsOf(`a: 1\n${key}: x`)).toEqual([
      `f:2: the key '${key}' is read differently by kubectl; quote it`,
    ]);
  });
});

describe('what is refused', () => {
  test.each<[string, string]>([
    ['a: 1\n---\nb: 2\n', "f:2: expected one document, found 2; remove the '---'"],
    ['a: 1\nb: 2\na: 3', "f:3: the key 'a' stands twice; leave one out"],
    ['a: &x 1', 'f:1: anchors are not read; write the value out'],
    ['a: !!str 1', "f:1: tags such as 'tag:yaml.org,2002:str' are not read; remove it"],
    ['a: !!binary aGk=', "f:1: tags such as 'tag:yaml.org,2002:binary' are not read; remove it"],
    ['1: a', 'f:1: expected a text as key; quote it'],
    ['true: a', 'f:1: expected a text as key; quote it'],
    ['? [a]\n: b', 'f:1: expected a text as key; quote it'],
    ['a: 1\n__proto__: {cpus: 5}', 'f:2: __proto__: unknown key'],
    ['{\n"a\rb": 1}', 'f:2: a carriage return alone ends a line in YAML; write line feeds'],
    ['a: 1\r\nb\rc: 2', 'f:2: a carriage return alone ends a line in YAML; write line feeds'],
    ['a:\n\t- b', 'f:2: a tab is read differently by kubectl; use blanks'],
    ['a: 1\nb:\t2', 'f:2: a tab is read differently by kubectl; use blanks'],
    ['%YAML 1.1\n---\na: 010', 'f:1: directives are not read; remove the line'],
    ['a: 1\n%x: 2', 'f:2: directives are not read; remove the line'],
    ['a: 1\nb: x\ufffdy', 'f:2: bytes that are not UTF-8; write it as UTF-8'],
    ['{"a":\n "\\ud800"}', 'f:2: "\\ud800" holds half a character'],
    ['a: "\\ud83d\\ude00"', 'f:1: kubectl does not read the escape \\ud8; write the character itself'],
    ['a: 1\nb: "\\/"', 'f:2: kubectl does not read the escape \\/; write the character itself'],
    ['{"a": 1,x\n "b": 2}', 'f:1: expected a key on one line; is a comma or a quote missing?'],
    ['a: {b: x?}', "f:1: 'x?' is read differently by kubectl; quote it"],
    ['a: :x', "f:1: ':x' is read differently by kubectl; quote it"],
    ['a: "x', 'f:1: Missing closing "quote'],
    ['a: @x', 'f:1: Plain value cannot start with reserved character @'],
  ])('%j', (written, problem) => expect(problemsOf(written)).toEqual([problem]));

  test.each(['\u0000', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029', '\ufeff', '\uffff'])(
    'the character %j, wherever it stands',
    (one) => {
      for (const written of [`a: 1\nb: x${one}y`, `a: 1\n# ${one}`, `a: 1\nb: "${one}"`, `a: 1\n${one}b: 1`])
        expect(problemsOf(written)).toEqual([
          expect.stringMatching(/^f:2: the character U\+[0-9A-F]{4} is read differently/),
        ]);
    },
  );

  test('aliases, so that a few lines never become a billion', () => {
    const bomb = [
      'a: &a [x, x]',
      ...[...'bcdefghij'].map((one, at) => `${one}: &${one} [*${'abcdefghij'[at]}, *${'abcdefghij'[at]}]`),
    ];
    expect(problemsOf(bomb.join('\n')).join('\n')).toContain('f:2: aliases are not read');
  });

  test.each(['[', '{a: ', '- '])('ten thousand times %j', (open) => {
    expect(problemsOf(`${open.repeat(10_000)}x`)).toEqual(['f:1: nested too deeply']);
  });

  test('what is larger than any values file', () => {
    expect(problemsOf(`a: ${'x'.repeat(1 << 18)}`)).toEqual(['f:1: 262147 characters are more than 262144']);
  });

  test('every problem of a file at once', () => {
    expect(problemsOf('a: no\nb: &x 1\non: 2')).toHaveLength(3);
  });
});

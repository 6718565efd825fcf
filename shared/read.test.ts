import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { finite } from '../schemas/primitives.ts';
import { Failure } from './failure.ts';
import { check, jsonText, parseJson, problemsOf, readJson, readText } from './read.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-read-'));
afterAll(() => rmSync(base, { recursive: true }));

const problems = (read: () => unknown): readonly string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof Failure) return error.problems;
    throw error;
  }
};

const linesOf = (text: string): number => text.split('\n').length;

describe('parseJson', () => {
  test.each<[string, unknown]>([
    ['{"a": 1}', { a: 1 }],
    ['\ufeff[1]\n', [1]],
    ['"ä 記 \\u0000"', 'ä 記 \u0000'],
  ])('%j', (written, value) => expect(parseJson(written, 'f')).toEqual(value));

  test.each([
    ['', 'f: expected JSON, found nothing'],
    [' \n', 'f: expected JSON, found nothing'],
    ['nope', 'f:1: expected JSON: '],
    ['{\n  "a": 1,\n  "b": nope,\n  "c": 2\n}\n', 'f:3: expected JSON: '],
    ['{\n  "a": 1\n  "b": 2\n}\n', 'f:3: expected JSON: '],
    ['[\n1,\n2,\n]\n', 'f:4: expected JSON: '],
    ['{"a": 1}\nx\n', 'f:2: expected JSON: '],
    ["{\n'a': 1}", 'f:2: expected JSON: '],
    ['{\n"a": NaN}', 'f:2: expected JSON: '],
    ['{"a": 1,\n"b": {"a": 1, "c": ":",\n "a": 2}}', 'f:3: the key "a" stands twice; leave one out'],
    ['{"a": [{"x": 1}, {"x": 1}],\n"\\u0061": 1}', 'f:2: the key "a" stands twice; leave one out'],
    ['{"__proto__": 1,\n"__proto__": 1}', 'f:2: the key "__proto__" stands twice; leave one out'],
    ['{"a":\n"x\ufffd"}', 'f:2: bytes that are not UTF-8; write it as UTF-8'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'f:1: nested 100000 levels deep, more than 500'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'f:1: nested 100000 levels deep, more than 500'],
  ])('%j', (written, start) => {
    const [only, ...more] = problems(() => parseJson(written, 'f'));
    expect([only, more]).toEqual([expect.stringMatching(new RegExp(`^${start}`)), []]);
  });

  test('a text cut short has its error where it ends', () => {
    const whole = jsonText({
      a: [1, -2.5e-7, { b: 'x\\"\u2028', c: [] }, [[]]],
      d: { e: null, f: [true] },
      '': '',
    });
    for (let length = 1; length < whole.length - 2; length++) {
      const cut = whole.slice(0, length);
      const line = Number(/^f:(\d+): /.exec(problems(() => parseJson(cut, 'f'))[0]!)![1]);
      expect(line).toBeGreaterThanOrEqual(linesOf(cut.trimEnd()));
      expect(line).toBeLessThanOrEqual(linesOf(cut));
    }
  });

  test('a stray character is found on its line, wherever it stands', () => {
    const lines = jsonText({ a: [1, { b: 'x' }, []], c: { d: null, e: true }, f: 'y' })
      .split('\n')
      .slice(0, -1);
    for (const [at, line] of lines.entries()) {
      const broken = lines.with(at, `${line} ;`).join('\n');
      expect(problems(() => parseJson(broken, 'f'))[0]).toStartWith(`f:${at + 1}: `);
    }
  });
});

describe('a value that does not fit', () => {
  const schema = v.strictObject({
    n: finite,
    list: v.array(v.strictObject({ name: v.string('expected a name') })),
  });
  test.each<[unknown, string[]]>([
    [{ n: 1, list: [] }, []],
    [{ list: [] }, ['f: n: missing']],
    [{ n: 1, list: [], more: 1 }, ['f: more: unknown key']],
    [{ n: Number.NaN, list: [] }, ['f: n: expected a finite number, found NaN']],
    [{ n: Infinity, list: [] }, ['f: n: expected a finite number, found Infinity']],
    [{ n: null, list: [] }, ['f: n: expected a finite number, found null']],
    [{ n: 1, list: [{ name: 'a' }, { name: 5 }] }, ['f: list.1.name: expected a name, found 5']],
    [{ n: 'x', list: [{}] }, ['f: n: expected a finite number, found "x"', 'f: list.0.name: missing']],
    [{ n: 'x'.repeat(200), list: [] }, [`f: n: expected a finite number, found "${'x'.repeat(76)}...`]],
    [null, ['f: the whole: expected Object, found null']],
  ])('%j', (value, expected) => {
    expect(problemsOf(schema, { value }, 'f')).toEqual(expected);
    expect(problems(() => check(schema, { value }, 'f'))).toEqual(expected);
  });

  const loose = v.looseObject({
    labels: v.optional(v.record(v.string(), v.unknown())),
    inner: v.optional(v.object({ a: v.optional(finite) })),
  });
  test.each<[string, string[]]>([
    ['{"labels": {"a": 1}, "inner": {"a": 1}, "more": [1]}', []],
    ['{"labels": [1]}', ['f: labels: expected an object, found a list']],
    ['{"inner": []}', ['f: inner: expected an object, found a list']],
    ['[]', ['f: the whole: expected an object, found a list']],
    ['{"labels": {"prototype": 1}}', ['f: labels.prototype: expected another key']],
    ['{"labels": {"constructor": {}}}', ['f: labels.constructor: expected another key']],
    ['{"inner": {"__proto__": {"a": 1}}}', ['f: inner.__proto__: expected another key']],
  ])('%s is taken for what it is', (written, expected) => {
    const value: unknown = JSON.parse(written);
    expect(problemsOf(loose, { value }, 'f')).toEqual(expected);
    expect(problems(() => check(loose, { value }, 'f'))).toEqual(expected);
  });

  test('of a great many mistakes the first is told', () => {
    const value = { n: 1, list: Array.from({ length: 100_000 }, () => 0) };
    expect(problemsOf(schema, { value }, 'f')).toEqual(['f: list.0: expected Object, found 0']);
  });

  test('what nests without bottom is not written out', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(problemsOf(schema, { value: { n: value, list: [] } }, 'f')).toEqual([
      'f: n: expected a finite number, found something nested too deeply',
    ]);
  });

  test('a line stands behind the file where the format has lines', () => {
    expect(problemsOf(schema, { value: { list: [] }, lineOf: (path) => path.length + 6 }, 'f')).toEqual([
      'f:7: n: missing',
    ]);
  });
});

test('what can not be read says why', () => {
  const file = join(base, 'file.json');
  writeFileSync(file, '{"n": "x"}');
  expect(problems(() => readText(join(base, 'gone'), 'gone'))).toEqual([
    "can't read 'gone': it does not exist",
  ]);
  expect(problems(() => readText(base, '.'))).toEqual(["can't read '.': it is a directory; name a file"]);
  expect(problems(() => readText(join(file, 'x'), 'x'))).toEqual([
    "can't read 'x': a part of the path is not a directory",
  ]);
  expect(problems(() => readJson(file, v.object({ n: finite }), 'file.json'))).toEqual([
    'file.json: n: expected a finite number, found "x"',
  ]);
});

/** YAML is read as kubectl reads it, or refused: held against a table that kubectl's own reader made (kubectl-yaml/table.ts). */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../shared/failure.ts';
import { parseYaml } from '../../shared/yaml.ts';
import { TABLE, texts } from './kubectl-yaml/table.ts';

type Row = { text: string; json?: unknown; error?: true };
const rows = JSON.parse(readFileSync(TABLE, 'utf8')) as Row[];

/** JSON has no -0 that anybody would tell from 0. */
const normal = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, one) => (one === 0 ? 0 : one));

const read = (text: string): { value: unknown } | undefined => {
  try {
    return { value: normal(parseYaml(text, 'f').value) };
  } catch (error) {
    if (error instanceof Failure && error.exit === 2 && error.problems.every((one) => one.startsWith('f:')))
      return undefined;
    throw error;
  }
};

test('the table is of the texts that its script makes', () => {
  expect(rows.map((one) => one.text)).toEqual(texts());
});

test('nothing is read otherwise than by kubectl, and nothing that it refuses', () => {
  const wrong = rows.filter(({ text, json, error }) => {
    const found = read(text);
    return found !== undefined && (error === true || !isDeepStrictEqual(found.value, normal(json)));
  });
  expect(wrong).toEqual([]);
});

test('what can mean one thing only is read', () => {
  const taken = (texts_: readonly string[]): string[] => texts_.filter((text) => read(text) === undefined);
  const plain = [
    'x',
    'true',
    'False',
    'null',
    '~',
    '0',
    '12',
    '-3',
    '1.5',
    '.5',
    '1e3',
    '+1',
    '8Gi',
    '2001-01-01',
    'a b',
    'é',
    '1.2.3',
    'x_1',
  ];
  expect(taken(plain.map((one) => `a: ${one}\n`))).toEqual([]);
  expect(
    taken([
      'a: "no"\n',
      "a: 'on'\n",
      'a: "0644"\n',
      '{"a": ["\\/", "\\ud83d\\ude00"]}',
      'a: |\n  x\n',
      'a: >-\n  x\n  y\n',
      '"a": 1 # x\n',
      'a:\n- 1\n',
    ]),
  ).toEqual([]);
});

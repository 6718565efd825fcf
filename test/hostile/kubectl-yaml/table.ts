#!/usr/bin/env bun
/** Makes fixtures/hostile/yaml-as-kubectl-reads.json: awkward scalars, each in several places of a document, and what kubectl reads there. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Random } from '../random.ts';
import { type KubectlRead, readAsKubectl } from './read.ts';

const SCALARS = [
  ...[
    'y',
    'n',
    'Y',
    'N',
    'yes',
    'No',
    'NO',
    'on',
    'Off',
    'OFF',
    'true',
    'false',
    'True',
    'FALSE',
    'tRue',
    'null',
    'Null',
    '~',
    'nil',
  ],
  ...[
    '0',
    '-0',
    '-0.0',
    '00',
    '0644',
    '089',
    '0o17',
    '0O17',
    '0b101',
    '0B1',
    '-0b1',
    '0x1F',
    '0X1f',
    '-0x1',
    '0x',
    '0b',
    '0o8',
    '0x1p3',
  ],
  ...[
    '1_000',
    '_1',
    '1_',
    '+_1',
    '0_7',
    '0x_1',
    '1_0e3',
    '0.1_0',
    '1.0',
    '1.',
    '.5',
    '-.5',
    '+1',
    '1e3',
    '1E+3',
    '1e',
    '.e3',
    '1e400',
    '-1e999',
  ],
  ...[
    '12345678901234567890',
    '9223372036854775808',
    '-9223372036854775809',
    '9007199254740993',
    '1:30',
    '190:20:30.5',
    '1:2:3:4',
    '0:0',
  ],
  ...[
    '.inf',
    '-.INF',
    '+.inf',
    '.nan',
    '.NaN',
    'inf',
    'NaN',
    'Infinity',
    '2001-01-01',
    '2001-01-01T00:00:00Z',
    '<<',
    '=',
    '==',
    '-',
    '--',
    '---',
    '...',
  ],
  ...[
    '?x',
    ':x',
    'x?',
    '? x',
    'a#b',
    '#x',
    '@x',
    '`x`',
    '%x',
    '&x',
    '*x',
    '!x',
    '!!str 1',
    '|',
    '>',
    '[',
    ']',
    '{',
    '}',
    ',',
    "'",
    '"',
    "it's",
  ],
  ...[
    '\t',
    'a\tb',
    '\u0001',
    '\u007f',
    '\u0085',
    '\u009f',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffe',
    'é',
    '😀',
    '\u202e',
    '8Gi',
    '500m',
  ],
  ...[
    '"\\u0041"',
    '"\\x41"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\/"',
    '"\\e"',
    '"a\\\n b"',
    "''''",
    '"a: b"',
    "'#'",
  ],
];

const PLACES: readonly ((scalar: string) => string)[] = [
  (one) => `a: ${one}\n`,
  (one) => `- ${one}\n`,
  (one) => `{a: ${one}}\n`,
  (one) => `${one}: x\n`,
  (one) => `a: "${one}"\n`,
  (one) => `a: '${one}'\n`,
  (one) => `a: |\n  ${one}\nb: 1\n`,
  (one) => `# ${one}\na: 1\n`,
  (one) => `a: x\n  ${one}\n`,
  (one) => `a: ${one} # no\nb: 1\n`,
];

/** Scalars made of pieces that mean something. */
const pieced = (): string[] => {
  const random = new Random(1);
  const pieces = [
    '0',
    '1',
    '7',
    '9',
    'x',
    'o',
    'b',
    'e',
    '_',
    '.',
    ':',
    '+',
    '-',
    'E',
    '10',
    'inf',
    'nan',
    'y',
    '~',
    '?',
  ];
  const made = new Set<string>();
  while (made.size < 700)
    made.add(Array.from({ length: 2 + random.below(4) }, () => random.one(pieces)).join(''));
  return [...made];
};

export const texts = (): string[] => [
  ...SCALARS.flatMap((scalar) => PLACES.map((place) => place(scalar))),
  ...pieced().map((scalar) => `a: ${scalar}\n`),
  ...[
    '',
    '\n',
    '---\n',
    '--- a\n',
    'a: 1\n---\nb: 2\n',
    'a: 1\na: 2\n',
    '%YAML 1.1\n---\na: 010\n',
    '%x: 1\n',
    'a\n',
    '- 1\n- 2\n',
  ],
];

export const TABLE = resolve(import.meta.dir, '../../../fixtures/hostile/yaml-as-kubectl-reads.json');

if (import.meta.main) {
  const all = texts();
  const read = readAsKubectl(all.map((one) => Buffer.from(one)));
  const row = (text: string, one: KubectlRead): string =>
    `  ${JSON.stringify({ text, ...('json' in one ? one : { error: true }) })}`;
  writeFileSync(TABLE, `[\n${all.map((text, at) => row(text, read[at]!)).join(',\n')}\n]\n`);
  console.log(`${all.length} texts in ${TABLE}`);
}

/** Inputs of a reader: a valid file, changed by its structure, by its bytes, or both. */
import { placesOf, type Node, raw, treeOf, written } from './json-tree.ts';
import { mutate, NUMBERS, TEXTS } from './mutations.ts';
import type { Random } from './random.ts';
import { DAMAGES, ENCODINGS, spoil } from './spoil.ts';

export interface Input {
  bytes: Buffer;
  /** What was done to a valid file. */
  how: string[];
}

/** Makes the next input. */
export type Make = (random: Random) => Input;

const spoiled = (input: Input, random: Random, probability: number): Input => {
  if (!random.chance(probability)) return input;
  const { bytes, how } = spoil(input.bytes, random);
  return { bytes, how: [...input.how, how] };
};

/** One JSON document. */
export const ofJson = (valid: readonly unknown[]): Make => {
  const trees = valid.map(treeOf);
  return (random) => {
    const root = { node: structuredClone(random.one(trees)) };
    const how = random.chance(0.85) ? mutate(root, random) : [];
    const bytes = Buffer.from(`${written(root.node, '')}\n`);
    return spoiled({ bytes, how }, random, how.length === 0 ? 1 : 0.1);
  };
};

/** JSON documents, one a line. */
export const ofLines = (valid: readonly (readonly unknown[])[]): Make => {
  const files = valid.map((lines) => lines.map(treeOf));
  return (random) => {
    const lines = random.one(files);
    const roots = lines.map((node) => ({ node }));
    const how: string[] = [];
    if (random.chance(0.8))
      for (let left = 1 + random.below(2); left > 0; left--) {
        const root = random.one(roots);
        root.node = structuredClone(root.node);
        how.push(...mutate(root, random));
      }
    const bytes = Buffer.from(roots.map(({ node }) => `${written(node)}\n`).join(''));
    return spoiled({ bytes, how }, random, how.length === 0 ? 1 : 0.25);
  };
};

/** A file without a structure of its own. */
export const ofBytes =
  (valid: readonly Buffer[]): Make =>
  (random) => {
    const how = random.one(Object.keys(DAMAGES));
    return spoiled({ bytes: DAMAGES[how]!(random.one(valid), random), how: [how] }, random, 0.2);
  };

/** Plain scalars that two YAML readers may take for different values, and what YAML can write beside scalars. */
const SCALARS = [
  ...[
    'y',
    'n',
    'yes',
    'No',
    'on',
    'OFF',
    'true',
    'False',
    'null',
    '~',
    'Null',
    'NULL',
    '',
    '010',
    '0o10',
    '0b11',
    '0x1F',
    '0X1F',
  ],
  ...[
    '1_000',
    '1:30',
    '190:20:30',
    '.inf',
    '-.INF',
    '.NaN',
    '1e3',
    '1.',
    '.5',
    '+1',
    '-0',
    '0.',
    '1e999',
    '12345678901234567890',
  ],
  ...[
    '2001-01-01',
    '2001-01-01T00:00:00Z',
    '<<',
    '=',
    '!!str 1',
    '!!int "2"',
    '!x y',
    '&a 1',
    '*a',
    '? x',
    '- 1',
    '{a: 1}',
    '[1, 2]',
  ],
  ...[
    '"\\x41\\e"',
    '"\\u2028"',
    "'it''s'",
    '"a\n  b"',
    '|\n  text\n',
    '>-\n  folded\n',
    '@x',
    '`x`',
    '%x',
    '# none',
    'a: b',
    'a #b',
  ],
  ...[
    '\u00a0',
    '\u2028',
    'a\u0085b',
    '\ufeff',
    '\t',
    '"\t"',
    '"\\/"',
    '0.1.2',
    '1,000',
    '0o',
    '0x',
    '--- ',
    '...',
    '<name>',
    '\u001b[2J',
  ],
];

/** YAML text, line by line. */
export const ofYaml = (valid: readonly string[], values: readonly unknown[]): Make => {
  const json = ofJson(values);
  return (random) => {
    if (random.chance(0.25)) return json(random);
    const lines = random.one(valid).split('\n');
    const how: string[] = [];
    for (let left = 1 + random.below(3); left > 0; left--) {
      const at = random.below(lines.length);
      const line = lines[at]!;
      const scalar = random.one(random.chance(0.8) ? SCALARS : [...NUMBERS, ...TEXTS]);
      const changes: Record<string, () => void> = {
        scalar: () =>
          (lines[at] = line.replace(/(:\s*|-\s+)[^\s#].*$/, (_, before: string) => before + scalar)),
        key: () => (lines[at] = line.replace(/[A-Za-z./-]+(?=:)/, () => scalar)),
        indent: () => (lines[at] = random.one([' ', '  ', '\t', '']) + line.replace(/^ ?/, '')),
        gone: () => void lines.splice(at, 1),
        twice: () => void lines.splice(random.below(lines.length + 1), 0, line),
        strange: () =>
          void lines.splice(
            at,
            0,
            random.one([
              '---',
              '...',
              '%YAML 1.1',
              '%YAML 1.2\n---',
              '# x',
              '\t',
              '- x',
              'x',
              '? y',
              ': z',
              '!!map',
              '__proto__: {a: 1}',
            ]),
          ),
        quoted: () =>
          (lines[at] = line.replace(
            /(:\s*)([^\s#{["'].*)$/,
            (_, before: string, text: string) => `${before}"${text}"`,
          )),
      };
      const kind = random.one([...Object.keys(changes), 'scalar', 'scalar', 'scalar']);
      changes[kind]!();
      how.push(kind);
    }
    return spoiled({ bytes: Buffer.from(lines.join('\n')), how }, random, 0.15);
  };
};

const DEPTH = 100_000;
const LONG = 10_000_000;

/** Values that are large rather than clever, as JSON. */
export const LARGE: readonly (readonly [what: string, make: () => string])[] = [
  ['deep list', () => '['.repeat(DEPTH) + ']'.repeat(DEPTH)],
  ['deep object', () => `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`],
  ['long text', () => `"${'x'.repeat(LONG)}"`],
  ['long text of escapes', () => `"${'\\u001b'.repeat(LONG / 10)}"`],
  ['long number', () => '9'.repeat(LONG)],
  ['long list', () => `[${'0,'.repeat(LONG / 10)}0]`],
  ['many keys', () => `{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`],
];

const WHOLE: readonly (readonly [what: string, make: () => string])[] = [
  ['unclosed lists', () => '['.repeat(DEPTH)],
  ['unclosed objects', () => '{"a":'.repeat(DEPTH)],
  ['nothing but blanks', () => ' '.repeat(LONG)],
  ['nothing but newlines', () => '\n'.repeat(LONG)],
  ['zeros', () => '\0'.repeat(LONG)],
];

/** A document with a large value in each of a few places, one at a time: the whole's own fields, and some deeper ones. */
export const largeTrees = function* (
  value: unknown,
  places = (count: number): number[] => [1, 2, 3, Math.floor(count / 2), count - 2, count - 1],
): Generator<{ node: Node; how: string }> {
  for (const at of new Set(places(placesOf({ node: treeOf(value) }).length)))
    for (const [how, make] of LARGE) {
      const root: { node: Node } = { node: treeOf(value) };
      const place = placesOf(root)[at];
      if (!place) continue;
      place.replace(raw(make()));
      yield { node: root.node, how: `${how} at place ${at}` };
    }
};

export const largeOf = function* (value: unknown): Generator<Input> {
  for (const [how, make] of [...WHOLE, ...LARGE]) yield { bytes: Buffer.from(make()), how: [how] };
  for (const { node, how } of largeTrees(value)) yield { bytes: Buffer.from(written(node)), how: [how] };
};

export const largeYaml = function* (valid: string): Generator<Input> {
  const more: readonly (readonly [string, () => string])[] = [
    ['nested items', () => '- '.repeat(DEPTH)],
    ['nested keys', () => Array.from({ length: 3000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
    ['a long scalar', () => `${valid}image: ${'x'.repeat(LONG)}\n`],
    ['a long block', () => `${valid}annotations:\n  a: |\n${'    x\n'.repeat(LONG / 10)}`],
    ['anchors upon anchors', () => `a: &a [x, x]\n${'b: &a [*a, *a]\n'.repeat(1000)}`],
    ['many documents', () => '---\n'.repeat(DEPTH)],
    ['many problems', () => 'no: no\n'.repeat(DEPTH)],
    ['many comments', () => '# \u2028\n'.repeat(DEPTH)],
  ];
  for (const [how, make] of [...WHOLE, ...LARGE, ...more]) yield { bytes: Buffer.from(make()), how: [how] };
};

export { ENCODINGS };

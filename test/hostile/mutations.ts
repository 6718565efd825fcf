/** Changes to a JSON document that know what they change: keys, types, numbers, texts, order, depth. */
import { type Node, type Place, placesOf, raw, written } from './json-tree.ts';
import type { Random } from './random.ts';

/** Numbers that a reader may take for others, or that JSON doesn't have. */
export const NUMBERS = [
  ...[
    '0x10',
    '1e999',
    '-1e999',
    'NaN',
    'Infinity',
    '-Infinity',
    '-0',
    '-0.0',
    '+1',
    '1_000',
    '01',
    '.5',
    '5.',
    '1e',
  ],
  ...[
    '0',
    '-1',
    '0.1',
    '1.5',
    '1e3',
    '1E+3',
    '1e-400',
    '5e-324',
    '1.7976931348623157e308',
    '9007199254740993',
  ],
  ...[
    '2147483648',
    '4294967297',
    '18446744073709551616',
    '1e21',
    `1${'0'.repeat(400)}`,
    `0.${'1'.repeat(2000)}`,
  ],
  ...['1.0', '3.0000000000000001', '99999', '65536', '٣', '１', '1n', '1.2.3'],
];

/** Texts that mean something to a terminal, a shell, a path, a format or a language, as JSON writes them. */
export const TEXTS = [
  ...[
    '""',
    '" "',
    '"\\u001b[2J\\u001b[31mred"',
    '"\\u009b31m"',
    '"a\\u0000b"',
    '"\\r\\nno"',
    '"\\t"',
    '"\\u007f"',
  ],
  ...[
    '"\\ud800"',
    '"\\udc00x"',
    '"\\ud83d\\ude00"',
    '"\\u202egnp.exe"',
    '"\\u2066x\\u2069"',
    '"\\ufeff"',
    '"\\u200b"',
  ],
  ...['"\\u2028"', '"\\u0085"', '"\\u00ad\\u2060\\u180e"', '"\\udb40\\udc41"', '"e\\u0301"', '"\\ufffd"'],
  ...['"__proto__"', '"constructor"', '"toString"', '"null"', '"NaN"', '"0x10"', '"1e3"', '"-0"', '"1"'],
  ...[
    '"../../etc/passwd"',
    '"/dev/zero"',
    '"/"',
    '"."',
    '".."',
    '"-"',
    '"--force"',
    '"a/b"',
    '"a\\\\b"',
    '"{root}"',
  ],
  ...[
    '"{"',
    '"{{"',
    '"}}}"',
    '"{constructor}"',
    '"%s%n"',
    '"$(touch x)"',
    '"\'; rm x"',
    '"<placeholder>"',
    '"*"',
  ],
  ...[
    '"2026-02-30T25:61:61Z"',
    '"2026-01-02T03:04:05.000Z"',
    '"+033658-09-27T01:46:39.999Z"',
    '"0000-00-00T00:00:00Z"',
  ],
  `"${'x'.repeat(5000)}"`,
  `"${'é\u202e'.repeat(300)}"`,
  `"${'f'.repeat(64)}"`,
  `"${'a'.repeat(63)}"`,
  `"${'a'.repeat(64)}"`,
];

const OTHERS = [
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[null]',
  '{"":""}',
  '[[[]]]',
  '',
  'undefined',
  '"',
  '{',
  ']',
];

const KEYS = [
  ...[
    '"__proto__"',
    '"constructor"',
    '"prototype"',
    '"toString"',
    '"hasOwnProperty"',
    '""',
    '"format"',
    '"t"',
    '"0"',
  ],
  ...[
    '"\\u001b[31m"',
    '"\\u202e"',
    '"a.b"',
    '"a/b"',
    '"valueOf"',
    '"length"',
    '"1"',
    '"-1"',
    '"\\ud800"',
    'bare',
    "'s'",
  ],
];

/** Another text: one of the awkward ones, or the old one with a character changed. */
const changedText = (text: string, random: Random): string => {
  if (random.chance(0.6) || text.length < 3) return random.one(TEXTS);
  const at = 1 + random.below(text.length - 2);
  const with_ = random.one(['x', '0', '-', '.', '/', 'é', '\\u001b', '\\u202e', '"', '\\', ' ', 'A']);
  return text.slice(0, at) + with_ + text.slice(at + random.below(2));
};

const changedNumber = (text: string, random: Random): string => {
  if (random.chance(0.5)) return random.one(NUMBERS);
  return random.one([
    `-${text}`,
    `${text}0`,
    `${text}.5`,
    `${text}e1`,
    `0${text}`,
    `"${text}"`,
    `${Number(text) + 1}`,
  ]);
};

const isObject = (node: Node): node is Node & { kind: 'object' } => node.kind === 'object';
const holds = (node: Node): number =>
  node.kind === 'object' ? node.members.length : node.kind === 'array' ? node.items.length : 0;

const copy = (node: Node): Node => structuredClone(node);

/** Parts of an object or array: either's, by position. */
const partsOf = (node: Node & { kind: 'object' | 'array' }): unknown[] =>
  isObject(node) ? node.members : node.items;

type Change = (place: Place, all: readonly Place[], random: Random) => boolean;

/** Each says whether it could be done at that place. */
const CHANGES: Readonly<Record<string, Change>> = {
  value({ node, replace }, _all, random) {
    if (node.kind !== 'raw') return false;
    if (node.text.startsWith('"')) replace(raw(changedText(node.text, random)));
    else if (/^-?\d/.test(node.text)) replace(raw(changedNumber(node.text, random)));
    else replace(raw(random.one(OTHERS)));
    return true;
  },
  type({ replace }, _all, random) {
    replace(raw(random.one([...OTHERS, ...NUMBERS.slice(0, 16), ...TEXTS.slice(0, 8)])));
    return true;
  },
  drop({ holder }) {
    if (!holder) return false;
    partsOf(holder.node).splice(holder.at, 1);
    return true;
  },
  /** The same key twice, with equal or other values. */
  repeat({ holder }, all, random) {
    if (!holder) return false;
    const parts = partsOf(holder.node) as { key: string; value: Node }[];
    const again = structuredClone(parts[holder.at]!);
    if (isObject(holder.node) && random.chance(0.7)) again.value = copy(random.one(all).node);
    parts.splice(random.chance(0.5) ? holder.at : holder.at + 1, 0, again);
    return true;
  },
  rename({ holder }, _all, random) {
    if (!holder || !isObject(holder.node)) return false;
    const member = holder.node.members[holder.at]!;
    member.key = random.chance(0.5)
      ? random.one(KEYS)
      : random.one([
          member.key.toUpperCase(),
          ` ${member.key}`,
          member.key.replace(/.(?="$)/, ''),
          `"${member.key.slice(1)}`,
        ]);
    return true;
  },
  add({ node }, all, random) {
    if (node.kind === 'raw') return false;
    const value = random.chance(0.5) ? copy(random.one(all).node) : raw(random.one([...TEXTS, ...OTHERS]));
    const at = random.below(holds(node) + 1);
    if (isObject(node)) node.members.splice(at, 0, { key: random.one(KEYS), value });
    else node.items.splice(at, 0, value);
    return true;
  },
  swap({ node, replace }, all, random) {
    const other = random.one(all);
    const [mine, its] = [copy(node), copy(other.node)];
    replace(its);
    other.replace(mine);
    return true;
  },
  reorder({ node }, _all, random) {
    if (node.kind === 'raw' || holds(node) < 2) return false;
    const parts = partsOf(node);
    const from = random.below(parts.length);
    parts.splice(random.below(parts.length), 0, ...parts.splice(from, 1));
    return true;
  },
  wrap({ node, replace }, _all, random) {
    const deep = random.chance(0.2) ? 500 : 1;
    replace(raw(`${'['.repeat(deep)}${written(node)}${']'.repeat(deep)}`));
    return true;
  },
  empty({ node }) {
    if (node.kind === 'raw' || holds(node) === 0) return false;
    partsOf(node).length = 0;
    return true;
  },
};

const KINDS = Object.keys(CHANGES);

/** Changes a document in a few places. What was done, for messages. */
export const mutate = (root: { node: Node }, random: Random): string[] => {
  const done: string[] = [];
  for (let left = 1 + random.below(3); left > 0; left--) {
    for (let tries = 0; tries < 20; tries++) {
      const all = placesOf(root);
      const kind = random.one(random.chance(0.4) ? ['value'] : KINDS);
      if (!CHANGES[kind]!(random.one(all), all, random)) continue;
      done.push(kind);
      break;
    }
  }
  return done;
};

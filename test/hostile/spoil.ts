/** Changes to a file that know nothing of its format: bytes, lines, encodings. */
import type { Random } from './random.ts';

type Spoil = (bytes: Buffer, random: Random) => Buffer;

const linesOf = (bytes: Buffer): string[] => bytes.toString('latin1').split(/(?<=\n)/);
const joined = (lines: readonly string[]): Buffer => Buffer.from(lines.join(''), 'latin1');

const utf16 = (bytes: Buffer, bigEndian: boolean): Buffer => {
  const out = Buffer.from(`\ufeff${bytes.toString('utf8')}`, 'utf16le');
  return bigEndian ? out.swap16() : out;
};

const insert = (bytes: Buffer, at: number, what: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);

/** Bytes that formats, terminals or decoders stumble over. */
const BYTES = [
  '00',
  'ff',
  'c0af',
  'eda080',
  '1b5b324a',
  'c29b',
  'e280ae',
  'efbbbf',
  '0d',
  '0a',
  '22',
  '5c',
  '7b',
  'e280a8',
  'c285',
  '09',
];

/** Changes that leave the file's meaning alone, or might; a reader may take them or refuse them. */
export const ENCODINGS: Readonly<Record<string, Spoil>> = {
  bom: (bytes) => insert(bytes, 0, Buffer.from('\ufeff')),
  crlf: (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  utf16le: (bytes) => utf16(bytes, false),
  utf16be: (bytes) => utf16(bytes, true),
  blankEnd: (bytes) => Buffer.concat([bytes, Buffer.from('\n\n  \n')]),
  noNewline: (bytes) => Buffer.from(bytes.toString('latin1').replace(/\n+$/, ''), 'latin1'),
};

export const DAMAGES: Readonly<Record<string, Spoil>> = {
  flip(bytes, random) {
    const out = Buffer.from(bytes);
    for (let left = 1 + random.below(3); left > 0 && out.length > 0; left--) {
      const at = random.below(out.length);
      out[at] = out[at]! ^ (1 << random.below(8));
    }
    return out;
  },
  truncate: (bytes, random) => Buffer.from(bytes.subarray(0, random.below(bytes.length + 1))),
  insert: (bytes, random) =>
    insert(bytes, random.below(bytes.length + 1), Buffer.from(random.one(BYTES), 'hex')),
  remove(bytes, random) {
    const from = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(20))]);
  },
  nul(bytes, random) {
    const out = Buffer.from(bytes);
    // As a machine leaves a file that lost its power: the length is there, the bytes are not.
    out.fill(0, random.below(out.length));
    return out;
  },
  lineGone(bytes, random) {
    const lines = linesOf(bytes);
    lines.splice(random.below(lines.length), 1);
    return joined(lines);
  },
  lineTwice(bytes, random) {
    const lines = linesOf(bytes);
    const at = random.below(lines.length);
    lines.splice(random.below(lines.length + 1), 0, lines[at]!);
    return joined(lines);
  },
  linesSwapped(bytes, random) {
    const lines = linesOf(bytes);
    const [a, b] = [random.below(lines.length), random.below(lines.length)];
    [lines[a], lines[b]] = [lines[b]!, lines[a]!];
    return joined(lines);
  },
  lineMerged(bytes, random) {
    const lines = linesOf(bytes);
    const at = random.below(lines.length);
    lines[at] = lines[at]!.replace(/\n$/, '');
    return joined(lines);
  },
  lineStrange(bytes, random) {
    const lines = linesOf(bytes);
    const strange = [
      'null\n',
      '[]\n',
      '{}\n',
      '"t"\n',
      '{"t":"sample"}\n',
      '\0\n',
      '\u001b[2J\n',
      '{"t":"end","seq":0}\n',
      '# x\n',
      '---\n',
    ];
    lines.splice(random.below(lines.length + 1), 0, random.one(strange));
    return joined(lines);
  },
};

const ALL = { ...ENCODINGS, ...DAMAGES };

export const spoil = (bytes: Buffer, random: Random): { bytes: Buffer; how: string } => {
  const how = random.one(Object.keys(ALL));
  return { bytes: ALL[how]!(bytes, random), how };
};

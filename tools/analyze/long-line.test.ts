import { describe, expect, test } from 'bun:test';
import { readLongLine, withPlainLists } from './long-line.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

/** What the line is read as: by its bytes in the midst of others, or undefined. */
const read = (line: string): object | undefined => {
  const before = '{"t":"x"}\n';
  const block = Buffer.from(`${before}${line}\n],"turn":[1]}`);
  const found = readLongLine(block, before.length, before.length + Buffer.byteLength(line));
  return found && withPlainLists(found);
};

/** The same by JSON.parse; undefined when it is no JSON. */
const parsed = (line: string): object | undefined => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const NUMBERS = ['0', '0.5', '12.0001', '8.003', '123456789012345', '0.00000000000001', '7', '10.10'];
/** What has another value, or none, or must be left to JSON.parse. */
const STRANGE = [
  '-1',
  '1e3',
  '01',
  '00',
  '1.',
  '.5',
  ' 1',
  '1 ',
  '',
  'null',
  '"1"',
  '[1]',
  '1234567890123456',
  '0.1234567890123456',
  '1,,2',
  '0x1',
  '٣',
];

const lineOf = (turn: string, cpu: string, more = ''): string =>
  `{"t":"sample","seq":7,"target":"a","turns":3,"open":1,"turn":[${turn}],"openCpu":2,"turnCpu":[${cpu}],"cpuModel":"ä"${more}}`;

describe('a long line', () => {
  test('of plain decimals is read from its bytes, each number as JSON.parse rounds it', () => {
    const next = random(3);
    const digits = (n: number): string => String(Math.floor(next() * 10 ** n));
    for (let run = 0; run < 2000; run++) {
      const numbers = Array.from({ length: 1 + Math.floor(next() * 20) }, () => {
        const whole = digits(Math.floor(next() * 8));
        const decimals = digits(Math.floor(next() * 8));
        return next() < 0.2 ? whole : `${whole}.${decimals.padStart(Math.floor(next() * 8), '0')}`;
      }).filter((one) => one.length <= 16);
      numbers.push(NUMBERS[run % NUMBERS.length]!);
      const line = lineOf(numbers.join(), numbers.toReversed().join());
      expect(read(line)).toEqual(JSON.parse(line));
    }
  });

  test('with anything else in its lists is left to JSON.parse, or read alike', () => {
    for (const strange of STRANGE)
      for (const list of [strange, `1.5,${strange}`, `${strange},1.5`, `1,${strange},2`]) {
        const line = lineOf(list, '1,2');
        expect([undefined, parsed(line)]).toContainEqual(read(line));
        expect([undefined, parsed(lineOf('1,2', list))]).toContainEqual(read(lineOf('1,2', list)));
        expect(read(lineOf(list, list))).toBeUndefined();
      }
  });

  test.each([
    ['a key twice', lineOf('1,2', '3', ',"turn":[4]')],
    ['a key twice, in other letters', lineOf('1,2', '3', ',"tur\\u006e":[4]')],
    ['a key twice, with what stands for a list', lineOf('1,2', '3', ',"turn":0')],
    ['a list deeper inside', '{"more":{"a":1,"turn":[1,2]},"turnCpu":3}'],
    ['a list deeper inside, and a number in its place', '{"more":{"a":1,"turn":[1,2]},"turn" :0}'],
    ['a list that another number follows', '{"a":1,"turn":[1].5}'],
    ['a list that letters follow', '{"a":1,"turn":[1]e5}'],
    ['a list in a text', '{"a":",\\"turn\\":[1]"}'],
    ['a text that ends before a list', '{"a":"x,"turn":[1]}'],
    ['a list that is the value of a text', '{"a":"b","turn":[1]":[2]}'],
    ['a list that does not end', '{"a":1,"turn":[1,2'],
    ['two objects', '{"a":1,"turn":[1]}{"b":2}'],
    ['a line that ends in its list', '{"a":1,"turn":[1]'],
    ['no list', '{"a":1}'],
  ])('with %s is not read otherwise than JSON.parse reads it', (_, line) => {
    expect([undefined, parsed(line)]).toContainEqual(read(line));
  });

  test('with changes anywhere is not read otherwise than JSON.parse reads it', () => {
    const next = random(5);
    const whole = lineOf('1.25,2,30.5', '1.2,0,3', ',"more":{"x":"y,"}');
    const pieces = [
      '"',
      '\\',
      ',',
      '[',
      ']',
      '{',
      '}',
      ':',
      '0',
      '9',
      '.',
      '-',
      'e',
      '"turn"',
      ',"turn":[1]',
      ' ',
    ];
    let differently = 0;
    for (let run = 0; run < 20_000; run++) {
      let line = whole;
      for (let changes = Math.floor(next() * 3); changes >= 0; changes--) {
        const at = Math.floor(next() * line.length);
        const gone = next() < 0.5 ? 0 : Math.floor(next() * 6);
        line = line.slice(0, at) + pieces[Math.floor(next() * pieces.length)] + line.slice(at + gone);
      }
      const found = read(line);
      if (found === undefined) continue;
      differently++;
      expect<unknown>(found).toEqual(parsed(line));
    }
    expect(differently).toBeGreaterThan(1000);
  });
});

test('a line without lists of its own kind stays as it is', () => {
  const line = { turn: [1], other: 'x' };
  expect(withPlainLists(line)).toBe(line);
  expect<object>(withPlainLists({ ...line, turnCpu: Float64Array.of(2, 3) })).toEqual({
    ...line,
    turnCpu: [2, 3],
  });
});

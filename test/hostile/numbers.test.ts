/** Every number flag of every tool refuses what is no plain decimal number, before anything happens. */
import { expect, test } from 'bun:test';
import { runTool } from '../outside.ts';
import { allFlags, numbersTaken } from './flag-kinds.ts';
import { complaintsOf } from './oracle.ts';

const NO_NUMBERS = [
  ...'0x10 1e3 1_000 +1 Infinity NaN -0 -1 ٣ １ 1n 0b11 0o17 1. .5 1e 00 007 1,,5 ½ 1/2 ∞'.split(' '),
  ...[
    '',
    ' ',
    ' 1',
    '1 ',
    '1\n',
    '1\u0000',
    '\u001b[31m1',
    '1'.repeat(400),
    'retry=0x1',
    'retry=-0',
    'retry=',
  ],
];

const numbers = (await allFlags()).filter((one) => one.kind === 'number');

test('the tables have number flags of each way to read one', () => {
  const found = new Set(numbers.map(({ name }) => name));
  for (const name of ['turns', 'rounds', 'max-cv', 'step-timeout', 'pin', 'not-judged', 'repeat', 'last'])
    expect(found).toContain(name);
});

test.each(numbers.map((one) => [`${one.tool.name} --${one.name}`, one] as const))(
  '%s',
  async (_, { tool, name, flag }) => {
    // The words in front of its flags, where there are any.
    const words = tool.words.filter((one) => one.required).map((one) => one.options?.[0] ?? 'x');
    for (const text of NO_NUMBERS) {
      for (const args of text === '' || text.startsWith('-')
        ? [[`--${name}=${text}`]]
        : [[`--${name}`, text], [`-${name}=${text}`]]) {
        const began = performance.now();
        const result = await runTool(tool.main, [...words, ...args]);
        expect({ text, complaints: complaintsOf({ ...result, ms: performance.now() - began }) }).toEqual({
          text,
          complaints: [],
        });
        expect({ text, exit: result.exit, names: result.stderr.includes(`flag '--${name}'`) }).toEqual({
          text,
          exit: 2,
          names: true,
        });
      }
    }
    expect(numbersTaken(flag)).not.toEqual([]);
  },
);

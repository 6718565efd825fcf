import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { profile as schema } from '../../schemas/profile.ts';
import { plainProfile, type PlainCommands, questionName, targetNames } from './plain-commands.ts';

const asked = (changes: Partial<PlainCommands> = {}): PlainCommands => ({
  reference: 'sort -n data',
  candidates: ['sort -n --parallel=2 data'],
  repeat: 5,
  outputCheck: true,
  ...changes,
});
const named = (role: 'candidate' | 'reference' | 'floor', command: string, name?: string) => ({
  role,
  words: command.split(' '),
  ...(name ? { name } : {}),
});

const name = (changes: Partial<PlainCommands> = {}): string => plainProfile(asked(changes)).name;

test('two commands become two targets', () => {
  const { name: own, ...rest } = plainProfile(asked());
  expect(own).toMatch(/^sort-[0-9a-f]{6}$/);
  expect(rest).toEqual({
    rule: own,
    about: expect.any(String),
    fingerprints: {},
    targets: [
      { name: 'candidate', role: 'candidate', command: ['sort', '-n', '--parallel=2', 'data'] },
      { name: 'reference', role: 'reference', command: ['sort', '-n', 'data'] },
    ],
    metrics: [],
    repeat: 5,
  });
});

test('all that can be asked for', () => {
  const made = plainProfile(
    asked({
      candidates: ['fast=sort "{a b}"', 'awk {}'],
      floor: 'true',
      prepare: 'rm -f {out}',
      name: 'mine',
      outputCheck: false,
    }),
  );
  expect(made).toMatchObject({ name: 'mine', rule: 'mine', outputCheck: false });
  expect(made.targets).toEqual(
    [
      { name: 'fast', role: 'candidate' as const, command: ['sort', '{{a b}}'] },
      { name: 'awk', role: 'candidate' as const, command: ['awk', '{{}}'] },
      { name: 'sort', role: 'reference' as const, command: ['sort', '-n', 'data'] },
      { name: 'true', role: 'floor' as const, command: ['true'] },
    ].map((one) => Object.assign(one, { prepare: ['rm', '-f', '{{out}}'] })),
  );
  expect(v.safeParse(schema, made).success).toBe(true);
});

test('every problem of every command is told at once', () => {
  expect(() =>
    plainProfile(asked({ reference: 'a | b', candidates: ['c $X'], floor: '', prepare: "'" })),
  ).toThrow(
    [
      "flag '--candidate': 'c $X': '$X' would be expanded by a shell; none runs here: quote it, or write sh -c '…'",
      "flag '--reference': 'a | b': '|' is an operator of a shell; none runs here: quote it, or write sh -c '…'",
      "flag '--floor': '': it is empty",
      "flag '--prepare': ''': a single quote is not closed",
    ].join('\n'),
  );
});

test('a variable before a command is no name', () => {
  expect(() => plainProfile(asked({ reference: 'LC_ALL=C sort' }))).toThrow('start with: env LC_ALL=…');
});

describe('names of targets', () => {
  test.each([
    [
      [named('candidate', 'fd x'), named('reference', '/usr/bin/find x')],
      ['fd', 'find'],
    ],
    [
      [named('candidate', 'a 1'), named('reference', 'a 2')],
      ['candidate', 'reference'],
    ],
    [
      [named('candidate', 'a 1'), named('candidate', 'a 2'), named('reference', 'b')],
      ['candidate-1', 'candidate-2', 'reference'],
    ],
    [
      [named('candidate', 'a 1', 'x'), named('candidate', 'a 2'), named('reference', 'a')],
      ['x', 'candidate-2', 'reference'],
    ],
    [
      [named('candidate', './$$'), named('reference', 'b')],
      ['candidate', 'reference'],
    ],
    [
      [named('candidate', '/opt/my app!'), named('reference', 'b'), named('floor', 'true')],
      ['my', 'b', 'true'],
    ],
    [
      [named('candidate', 'reference'), named('reference', 'reference')],
      ['candidate', 'reference'],
    ],
  ])('%j', (commands, names) => {
    expect(targetNames(commands)).toEqual(names);
  });

  test('whatever the programs are called, the profile is one that the schema takes', () => {
    for (const program of [
      'a',
      '.',
      '..',
      '...',
      '-x',
      '_',
      'x'.repeat(300),
      'é',
      '記',
      '/',
      'a/b/',
      '{}',
      '{turns}',
      'A.B_c-1-',
    ]) {
      const made = plainProfile(
        asked({ reference: `'${program}' 1`, candidates: [`'${program}' 2`, 'other'] }),
      );
      expect([program, v.safeParse(schema, made).issues]).toEqual([program, undefined]);
    }
  });
});

test('the name follows what is asked, and nothing else', () => {
  expect(name()).toBe(name());
  expect(name({ repeat: 9 })).toBe(name());
  const others = [
    name(),
    name({ reference: 'sort data' }),
    name({ candidates: ['sort --parallel=3 data'] }),
    name({ prepare: 'sync' }),
    name({ floor: 'true' }),
    name({ outputCheck: false }),
  ];
  expect(new Set(others).size).toBe(others.length);
  expect(questionName([named('candidate', 'fd'), named('reference', 'find')], 1)).toMatch(
    /^fd-find-[0-9a-f]{6}$/,
  );
});

import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeBraces, splitWords } from './shell-words.ts';

/** The oracle: what a real shell hands to a program as its arguments. */
const shellWords = (texts: readonly string[]): string[][] => {
  const empty = mkdtempSync(join(tmpdir(), 'words-'));
  // `printf '%s\0'` cannot show "no words", so a first and a last word frame each list.
  const script = texts.map((text) => `printf '%s\\0' BEGIN ${text} \nprintf '%s\\0' END`).join('\n');
  try {
    const run = Bun.spawnSync(['sh', '-s'], { stdin: Buffer.from(script), cwd: empty });
    const all: string[][] = [];
    for (const word of run.stdout.toString().split('\0').slice(0, -1))
      if (word === 'BEGIN') all.push([]);
      else if (word !== 'END') all.at(-1)!.push(word);
    return all;
  } finally {
    rmSync(empty, { recursive: true });
  }
};

/** Deterministic choices, so that a failure can be seen again. */
const chooser = (seed: number) => {
  let state = seed;
  return <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from[Math.floor((state / 2 ** 32) * from.length)]!;
  };
};
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

const single = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
const double = (word: string): string => `"${word.replace(/[$`"\\]/g, '\\$&')}"`;
const slashed = (word: string): string =>
  [...word].map((one) => (one === '\n' ? "'\n'" : `\\${one}`)).join('') || "''";

describe('splitWords', () => {
  test.each([
    ["sort -n 'my data'", ['sort', '-n', 'my data']],
    ['a "b c" d\\ e', ['a', 'b c', 'd e']],
    [`a 'it'"'"'s'`, ['a', "it's"]],
    [`a '' "" ''""`, ['a', '', '', '']],
    ['a "\\$X \\` \\" \\\\ \\n"', ['a', '$X ` " \\ \\n']],
    ['a#b $ "$" "a$ b" x=$', ['a#b', '$', '$', 'a$ b', 'x=$']],
    ['  a\tb  ', ['a', 'b']],
    ['a \\\n b "c\\\nd"', ['a', 'b', 'cd']],
    ["find . -name '*.ts' -exec wc {} \\;", ['find', '.', '-name', '*.ts', '-exec', 'wc', '{}', ';']],
    ["sh -c 'sort < data | uniq'", ['sh', '-c', 'sort < data | uniq']],
    ['[ -f x ]', ['[', '-f', 'x', ']']],
    ['a x=1 b~c a=b~', ['a', 'x=1', 'b~c', 'a=b~']],
    ["'A=1' x", ['A=1', 'x']],
    ['\nsort data\n', ['sort', 'data']],
  ])('%j', (text, words) => {
    expect(splitWords(text)).toEqual({ words });
  });

  test.each([
    ['sort < data', "'<' is an operator"],
    ['a | b | c', "'|' is an operator"],
    ['a && b', "'&' is an operator"],
    ['a; b', "';' is an operator"],
    ['(a)', "'(' is an operator"],
    ['a $HOME/x', "'$HOME' would be expanded"],
    ['a "$HOME"', "'$HOME' would be expanded"],
    ['a ${X}', "'${' would be expanded"],
    ['a $(ls)', "'$(' would be expanded"],
    ["a $'x'", "'$' would be expanded"],
    ['a `ls`', "'`' would run a command"],
    ['a "`ls`"', "'`' would run a command"],
    ['a *.txt', "'*' would be matched"],
    ['a x?', "'?' would be matched"],
    ['a [ab]c', "'[' and ']' would be matched"],
    ['a ~/x', "'~' would be expanded"],
    ['dd of=~/x', "'~' would be expanded"],
    ['a # b', "'#' would start a comment"],
    ['a\nb', 'a new line would start another command'],
    ["a 'b", 'a single quote is not closed'],
    ['a "b', 'a double quote is not closed'],
    ['a b\\', 'a backslash stands at the end'],
    ['LC_ALL=C sort', 'start with: env LC_ALL=…'],
    ["LC_ALL='C' sort", 'start with: env LC_ALL=…'],
    ['', 'it is empty'],
    [' \t', 'it is empty'],
    ["'' a", 'its program is empty'],
  ])('refuses %j', (text, sentence) => {
    const { problems } = splitWords(text) as { problems: string[] };
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  test('names every kind of problem at once', () => {
    expect(splitWords('a > b $X *')).toEqual({
      problems: [
        "'>' is an operator of a shell",
        "'$X' would be expanded by a shell",
        "'*' would be matched against file names by a shell",
      ],
    });
  });

  test('quoted words arrive as a shell hands them on', () => {
    const choose = chooser(7);
    const letters = [...'ab \t\n\'"\\$`*?[]{}~#|&;<>()!=-é記'];
    const lines = times(400, () => {
      const words = times(1 + choose([0, 1, 2, 3]), () =>
        times(choose([0, 1, 2, 3, 6]), () => choose(letters)),
      );
      return words
        .map((word) => choose([single, double, slashed])(word.join('')))
        .join(choose([' ', '  ', '\t']));
    });
    const expected = shellWords(lines);
    for (const [at, line] of lines.entries()) {
      const split = splitWords(`program ${line}`);
      expect([line, split]).toEqual([line, { words: ['program', ...expected[at]!] }]);
    }
  });

  test('whatever it accepts, a shell splits alike', () => {
    const choose = chooser(11);
    const letters = [...'aab  \t\'"\\$#={}~]-', '\\\n', "''", '""', ' $ ', '"$"'];
    const lines = times(6000, () =>
      times(1 + choose([0, 1, 3, 5, 8]), () => choose(letters)).join(''),
    ).filter((line) => 'words' in splitWords(`program ${line}`));
    expect(lines.length).toBeGreaterThan(1000);
    const expected = shellWords(lines);
    for (const [at, line] of lines.entries())
      expect([line, splitWords(`program ${line}`)]).toEqual([line, { words: ['program', ...expected[at]!] }]);
  });
});

test('escaped braces read back as they were, and hold no placeholder', () => {
  const choose = chooser(3);
  for (const text of times(300, () => times(choose([0, 1, 4, 9]), () => choose([...'{}ab{}'])).join(''))) {
    const escaped = escapeBraces(text);
    expect(escaped.replaceAll('{{', '{').replaceAll('}}', '}')).toBe(text);
    expect(escaped.replaceAll('{{', '').replaceAll('}}', '')).not.toMatch(/[{}]/);
  }
});

test.each([
  ['{root}/bin/x', '{root}/bin/x'],
  ['-wasm={root}/a{b}', '-wasm={root}/a{{b}}'],
  ['${root}/x', '${{root}}/x'],
  ['{{root}}', '{{{root}}}'],
])('%s keeps where the artifacts lie: %s', (text, escaped) => expect(escapeBraces(text)).toBe(escaped));

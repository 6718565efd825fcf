import { describe, expect, test } from 'bun:test';
import { commitFits, commitNamed, commitProblem } from './commit-name.ts';

describe('commits', () => {
  const FULL = '0123456789abcdef0123456789abcdef01234567';
  const CASES: [string, string, boolean][] = [
    [FULL, FULL, true],
    ['0123456', FULL, true],
    ['012345', FULL, false],
    ['0123457', FULL, false],
    ['0123456-dirty', FULL, false],
    ['0123456', `${FULL}-dirty`, false],
    ['0123456-dirty', `${FULL}-dirty`, true],
    ['0123456-', FULL, false],
    ['', FULL, false],
    ['0123456', '', false],
    ['main', 'main', false],
  ];
  for (const [wanted, commit, fits] of CASES)
    test(`'${wanted}' for '${commit}'`, () => expect(commitFits(wanted, commit)).toBe(fits));
});

test.each([
  ['0123456789abcdef0123456789abcdef01234567\n', '0123456789abcdef0123456789abcdef01234567'],
  ['0123456-dirty', '0123456-dirty'],
  ['012345', undefined],
  ['not a commit', undefined],
  ['', undefined],
])('%p names %p', (text, commit) => {
  expect(commitNamed(text)).toBe(commit!);
  expect(commitProblem(text, "'dist/COMMIT'") === undefined).toBe(commit !== undefined);
});

test('what names none says where it stands, in one line', () => {
  expect(commitProblem(`v1.2${' '.repeat(200)}\n`, "'dist/COMMIT'")).toBe(
    "'dist/COMMIT': expected a commit of 7 to 64 hex digits, '-dirty' behind it when files were changed, found 'v1.2'",
  );
  expect(commitProblem('x'.repeat(200), 'it')!.length).toBeLessThan(200);
});

import { expect, test } from 'bun:test';
import { EXIT } from './exit.ts';
import { text } from './flags.ts';
import { type Verb, verbOf, verbsText } from './verbs.ts';

const flags = { run: text('a run', 'DIR'), last: text('the newest', 'N') };
const verb = (about: string, own: Verb<typeof flags>['flags']): Verb<typeof flags> => ({
  about,
  flags: own,
  run: async () => EXIT.done,
});
const VERBS = { add: verb('adds', ['run']), list: verb('lists', ['run', 'last']) };
const called = (words: string[], ...given: string[]) =>
  verbOf('tool', VERBS, { words, given: new Map(given.map((one) => [one, ['x']])) }, 'list').about;

test.each([
  [['add'], ['run'], 'adds'],
  [['list'], ['run', 'last'], 'lists'],
  [[], ['last'], 'lists'],
])('the words %j with the flags %j: %s', (words, given, about) => {
  expect(called(words, ...given)).toBe(about);
});

test('every flag of another verb is refused', () => {
  expect(() => called(['add'], 'last')).toThrow("'tool add' takes no flag '--last'");
});

test('the help lists them in a column', () => {
  expect(verbsText(VERBS)).toBe('VERBS\n\n  add   adds\n  list  lists');
});

import { expect, test } from 'bun:test';
import { atItsSize, atSize, countedBy, sizeHead, sizeText } from './sizes.ts';

const commands = countedBy([{ command: ['sort', 'data'] }]);

test.each([
  [50, {}, '50 turns', 'at 50 turns'],
  [1, {}, '1 turn', 'at 1 turn'],
  [5, commands, '5 processes', 'at 5 processes a sample'],
  [1, commands, '1 process', 'at 1 process a sample'],
] as const)('%d %p', (size, counted, text, at) => {
  expect([sizeText(size, counted), atSize(size, counted)]).toEqual([text, at]);
});

test.each([
  [[], 'turns'],
  [[{}, {}], 'turns'],
  [[commands, commands], 'processes'],
  [[commands, {}], 'size'],
])('the head of a column of sizes %#', (all, head) => expect(sizeHead(all)).toBe(head));

test('workloads count turns, and say nothing of it', () => expect(countedBy([{}])).toEqual({}));

test('an imported run has one size, and nobody named it', () => {
  expect(atItsSize(1, { origin: 'imported' })).toBe('');
  expect(atItsSize(50, {})).toBe(' at 50 turns');
});

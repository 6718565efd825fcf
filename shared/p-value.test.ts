import { expect, test } from 'bun:test';
import { pShown, pText } from './p-value.ts';

test.each([
  [1, '1'],
  [0.996, '1'],
  [0.5, '0.5'],
  [0.25, '0.25'],
  [0.1, '0.1'],
  [0.03125, '0.031'],
  [0.0013, '0.0013'],
  [0.000488, '0.0005'],
  [0.0001, '0.0001'],
])('%d', (p, shown) => expect([pShown(p), pText(p)]).toEqual([shown, `p = ${shown}`]));

test.each([0.00009, 0])('%d is below what is told', (p) =>
  expect([pShown(p), pText(p)]).toEqual(['< 0.0001', 'p < 0.0001']),
);

import { expect, test } from 'bun:test';
import { sendingProgress } from './sending.ts';

const MIB = 1 << 20;

test('says what was sent, how fast, and how long the rest will take; never more often than it is asked to', () => {
  const count = sendingProgress(500 * MIB, 1000, 10_000);
  expect(count(100 * MIB, 10_999)).toBeUndefined();
  expect(count(100 * MIB, 11_000)).toBe('sending the bundle: 200 of 500 MiB, 20 MiB/s, 15 s left');
  expect(count(50 * MIB, 20_999)).toBeUndefined();
  // It became slower: the rate is that of all so far.
  expect(count(0, 26_000)).toBe('sending the bundle: 250 of 500 MiB, 10 MiB/s, 25 s left');
  expect(count(250 * MIB, 36_000)).toBe('sending the bundle: 500 of 500 MiB, 14 MiB/s, 0 s left');
});

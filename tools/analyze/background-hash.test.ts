import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { BackgroundHashes } from './background-hash.ts';

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

test('hashes that are fed in turns are those of their bytes, copies too', () => {
  const next = random(7);
  const hashes = new BackgroundHashes();
  const pairs = Array.from({ length: 3 }, () => ({
    ours: hashes.next(),
    theirs: createHash('sha256'),
  }));
  const bytes = new Uint8Array(1 << 20);
  for (let run = 0; run < 20_000; run++) {
    const { ours, theirs } = pairs[Math.floor(next() * pairs.length)]!;
    const size = Math.floor(next() * (run % 200 === 0 ? bytes.length : 50));
    const part = bytes.subarray(0, size).fill(run);
    theirs.update(part);
    ours.update(part);
    // Theirs are the bytes again: what was handed over is not read any more.
    part.fill(0xff);
    if (run % 5000 === 0) pairs.push({ ours: ours.copy(), theirs: theirs.copy() });
    if (run % 3 === 0) expect(ours.copy().digest('hex')).toBe(theirs.copy().digest('hex'));
  }
  expect(pairs.length).toBeGreaterThan(5);
  for (const { ours, theirs } of pairs) expect(ours.digest('hex')).toBe(theirs.digest('hex'));
  expect(hashes.next().digest('hex')).toBe(createHash('sha256').digest('hex'));
  hashes.close();
});

import { describe, expect, test } from 'bun:test';
import { childId, fitsAsRun, type Named, runId } from './run-id.ts';

const NOW = Date.parse('2026-01-02T03:04:05.678Z');
const SHA = '0123456789abcdef0123456789abcdef01234567';
const named = (changes: Partial<Named> = {}): Named => ({
  mode: 'compare',
  word: 'durable-store',
  now: NOW,
  taken: 0,
  ...changes,
});

test.each<[Partial<Named>, string]>([
  [{}, 'k8sbench-cmp-durable-store-20260102-030405'],
  [{ mode: 'calibrate' }, 'k8sbench-cal-durable-store-20260102-030405'],
  [{ commit: SHA }, 'k8sbench-cmp-0123456789-20260102-030405'],
  [{ commit: `${SHA}-dirty` }, 'k8sbench-cmp-0123456789-dirty-20260102-030405'],
  [{ taken: 1 }, 'k8sbench-cmp-durable-store-20260102-030405-2'],
  [{ word: 'My_Store v2.0 (größe)' }, 'k8sbench-cmp-my-store-v2-0-gr-e-20260102-030405'],
  [{ word: '記録' }, 'k8sbench-cmp-20260102-030405'],
  [{ word: '', taken: 98 }, 'k8sbench-cmp-20260102-030405-99'],
])('%j', (changes, id) => expect(runId(named(changes))).toBe(id));

describe('whatever it is made of', () => {
  const letters = [...'abz059-_./ ÄX記'];
  let state = 5;
  const next = (below: number): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % below;
  const rows = Array.from({ length: 2000 }, () =>
    named({
      mode: next(2) ? 'compare' : 'calibrate',
      word: Array.from({ length: next(90) }, () => letters[next(letters.length)]!).join(''),
      taken: next(3) ? 0 : next(500),
      now: NOW + next(1e9) * 1000,
      ...(next(3) ? {} : { commit: SHA + (next(2) ? '-dirty' : '') }),
    }),
  );

  test('it is a DNS label, and so is the last of 99 children', () => {
    for (const row of rows) {
      const id = childId(runId(row), 99);
      expect([row, id]).toEqual([row, expect.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)]);
      expect(id).not.toContain('--');
      expect(fitsAsRun(runId(row), 99)).toBe(true);
    }
  });

  test('another second, mode or count is another id', () => {
    for (const row of rows) {
      const others = [
        row,
        { ...row, now: row.now + 1000 },
        { ...row, taken: row.taken + 1 },
        { ...row, mode: row.mode === 'compare' ? ('calibrate' as const) : ('compare' as const) },
      ];
      expect(new Set(others.map(runId)).size).toBe(4);
    }
  });
});

test.each([
  ['a', 0, true],
  ['x'.repeat(63), 0, true],
  ['x'.repeat(64), 0, false],
  ['x'.repeat(60), 9, true],
  ['x'.repeat(61), 9, false],
  ['x'.repeat(60), 10, false],
  ['Run', 0, false],
  ['-a', 0, false],
  ['a.b', 0, false],
  ['', 0, false],
  ['..', 0, false],
])('%s with %d children fits: %p', (name, children, fits) => expect(fitsAsRun(name, children)).toBe(fits));

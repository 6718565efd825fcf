import { expect, test } from 'bun:test';
import type { Attempt } from '../../schemas/attempt.ts';
import { clockWarning, earlierAttempts, type Ending, outcomeOf } from './endings.ts';

const own: Ending = {
  at: '2026-01-02T12:00:00.000Z',
  run: 'own',
  profile: 'store',
  rule: 'store',
  mode: 'compare',
  commit: 'c0',
  outcome: 'judged',
  exit: 0,
  reasons: [],
};
const other = (run: string, more: Partial<Attempt> = {}): Attempt => ({
  format: 'attempt/1',
  ...own,
  run,
  at: '2026-01-02T11:00:00.000Z',
  outcome: 'refused',
  ...more,
});

test.each<[string, Attempt[], [number, number, number]]>([
  ['none', [], [0, 0, 0]],
  [
    'refused and void ones',
    [other('a'), other('b', { outcome: 'void' }), other('c', { outcome: 'judged' })],
    [3, 1, 1],
  ],
  [
    'failed and invalid ones as void',
    [other('a', { outcome: 'failed' }), other('b', { outcome: 'invalid' })],
    [2, 0, 2],
  ],
  ['a run once, by its last ending', [other('a'), other('a', { outcome: 'judged' })], [1, 0, 0]],
  ['not itself', [other('own', { outcome: 'judged' }), other('own', { outcome: 'void' })], [0, 0, 0]],
  [
    'its own refusals under other limits, and of a session that was measured again',
    [
      other('own', { at: own.at, reasons: ['over 1 %'] }),
      other('own', { at: own.at, reasons: ['over 2 %'] }),
      other('own'),
      other('own', { at: own.at, outcome: 'judged' }),
    ],
    [3, 3, 0],
  ],
  ['not later ones', [other('a', { at: '2026-01-02T12:00:00.000Z' })], [0, 0, 0]],
  ['times, not texts', [other('a', { at: '2026-01-02T11:59:59Z' })], [1, 1, 0]],
  [
    'not other work',
    [other('a', { profile: 'x' }), other('b', { rule: 'x' }), other('c', { commit: 'x' })],
    [0, 0, 0],
  ],
  ['not calibrations', [other('a', { mode: 'calibrate' })], [0, 0, 0]],
  ['lines of before modes', [Object.assign(other('a'), { mode: undefined })], [1, 1, 0]],
])('attempts before a run: %s', (_, all, [total, refused, gone]) =>
  expect(earlierAttempts(all, own)).toEqual({ total, refused, void: gone }),
);

test('a refusal is not preceded by another of the same session', () => {
  const all = [other('own', { at: own.at, reasons: ['over 1 %'] }), other('own')];
  expect(earlierAttempts(all, { ...own, outcome: 'refused' })).toEqual({ total: 1, refused: 1, void: 0 });
});

test.each([
  [{ exit: 0, judged: true }, 'judged'],
  [{ exit: 0, judged: false }, 'unjudged'],
  [{ exit: 3, judged: false }, 'refused'],
  [{ exit: 3, judged: true }, 'refused'],
  [{ exit: 5, judged: false }, 'invalid'],
] as const)('%j is %s', (analysis, outcome) => expect(outcomeOf(analysis)).toBe(outcome));

test('attempts from later than the clock says make it doubtful', () => {
  const now = Date.parse('2026-01-02T11:00:00.000Z');
  expect(clockWarning([], now)).toBeUndefined();
  expect(clockWarning([other('a'), other('b', { at: '2026-01-02T11:00:30.000Z' })], now)).toBeUndefined();
  expect(clockWarning([other('a', { at: '2026-01-02T12:00:00.000Z' }), other('b')], now)).toBe(
    "attempts.jsonl has attempts up to 2026-01-02T12:00:00.000Z, and this machine's clock says 2026-01-02T11:00:00.000Z: which of them came before this run can't be told; check the clock",
  );
});

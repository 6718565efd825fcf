import { describe, expect, test } from 'bun:test';
import { plannedLooks, spentAt } from './spending.ts';
import { neededFor, sessionsFor, sessionVariance } from './planning.ts';
import { detectableShift, power, roundsFor, studentPower } from './power.ts';

const roundsNeeded = (withinSd: number, effect: number, margin: number, family = 1): number =>
  neededFor({ withinSd }, { effect, margin, family }).rounds!;

describe('power of rounds', () => {
  test.each([
    [6, 0.05],
    [12, 0.05],
    [12, 0.01],
    [40, 0.05],
    [500, 0.05],
  ])('%d rounds at level %d find the detectable shift as promised', (n, level) => {
    const shift = detectableShift(n, level, 0.8);
    expect(power(shift, n, level)).toBeCloseTo(0.8, 9);
    expect(power(1.5 * shift, n, level)).toBeGreaterThan(0.8);
  });
  test.each([
    [2, 0.05],
    [5, 0.05],
    [6, 0.01],
  ])('%d rounds at level %d find nothing', (n, level) => {
    expect(detectableShift(n, level, 0.8)).toBe(Infinity);
    expect(power(100, n, level)).toBe(0);
  });
  test('the fewest rounds: one fewer is not enough', () => {
    for (const shift of [0.05, 0.2, 0.5, 1, 2, 5]) {
      const n = roundsFor(shift, 0.05, 0.8)!;
      expect(power(shift, n, 0.05)).toBeGreaterThanOrEqual(0.8);
      expect(n === 3 || power(shift, n - 1, 0.05) < 0.8).toBe(true);
    }
    expect(roundsFor(0.001, 0.05, 0.8)).toBeNull();
    expect(roundsFor(5, 0.05, 0.8)).toBe(6);
  });
  test('a test without a level has no power', () => expect(studentPower(9, 4, 0)).toBe(0));
});

describe('plans', () => {
  test('less noise, a larger effect and a smaller margin need fewer rounds; a family needs more', () => {
    expect(roundsNeeded(0.02, 0.05, 0.03)).toBeLessThan(roundsNeeded(0.03, 0.05, 0.03));
    expect(roundsNeeded(0.02, 0.08, 0.03)).toBeLessThan(roundsNeeded(0.02, 0.05, 0.03));
    expect(roundsNeeded(0.02, 0.05, 0.01)).toBeLessThan(roundsNeeded(0.02, 0.05, 0.03));
    expect(roundsNeeded(0.02, 0.05, 0.03, 6)).toBeGreaterThan(roundsNeeded(0.02, 0.05, 0.03));
    expect(roundsNeeded(0, 0.05, 0.03)).toBe(6);
  });
  test('a spread that few rounds were asked for needs more, down to what a known one needs', () => {
    const needed = [2, 5, 11, 40, 1000].map(
      (freedom) => neededFor({ withinSd: 0.02, freedom }, { effect: 0.05 }).rounds!,
    );
    expect(needed.toSorted((a, b) => b - a)).toEqual(needed);
    expect(needed[0]! > needed[2]! && needed[2]! > needed[4]!).toBe(true);
    expect(needed[4]).toBe(neededFor({ withinSd: 0.02 }, { effect: 0.05 }).rounds!);
    expect(neededFor({ withinSd: 0, freedom: 5 }, { effect: 0.05 }).rounds).toBe(6);
  });
  test.each([0.03, 0.01, 0, NaN])('an effect of %d is not above the margin', (effect) =>
    expect(() => neededFor({ withinSd: 0.02 }, { effect })).toThrow('margin'),
  );
  test('sessions are counted only when sessions were seen', () => {
    expect(neededFor({ withinSd: 0.02 }, { effect: 0.05 }).sessions).toBeNull();
    const { sessions, roundsEach } = neededFor(
      { withinSd: 0.02, betweenSd: 0.01 },
      { effect: 0.05, rounds: 8 },
    );
    expect(roundsEach).toBe(8);
    const variance = sessionVariance({ withinSd: 0.02, betweenSd: 0.01 }, 8);
    expect(sessions).toBe(sessionsFor(Math.log1p(0.05) - Math.log1p(0.03), variance, 0.05, 0.8));
    expect(neededFor({ withinSd: 0.02, betweenSd: 0.5 }, { effect: 0.05 }).sessions).toBeNull();
  });
});

describe('spending', () => {
  test('nothing at the start, everything at the end, never less later', () => {
    expect([spentAt(0, 0.05), spentAt(1, 0.05), spentAt(2, 0.05)]).toEqual([0, 0.05, 0.05]);
    for (let t = 0.1; t <= 1; t += 0.1) expect(spentAt(t, 0.05)).toBeGreaterThan(spentAt(t - 0.1, 0.05));
  });
  test('six of twelve rounds that agree may stop', () =>
    expect(spentAt(0.5, 0.05)).toBeGreaterThanOrEqual(2 / 64));
  test.each([
    [3, [3]],
    [6, [6]],
    [8, [6, 8]],
    [12, [6, 9, 12]],
    [30, [15, 23, 30]],
  ])('looks of %d rounds: %p', (rounds, looks) => expect(plannedLooks(rounds)).toEqual(looks));
});

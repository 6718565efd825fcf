import { describe, expect, test } from 'bun:test';
import { bisectAdvice, noiseOf } from './bisect.ts';
import { changePoints } from './changes.ts';
import { bestSplit, SHORTEST, splitTest } from './energy.ts';
import { generator } from './random.ts';

const random = generator(8);
const noise = (): number => random() + random() + random() - 1.5;
/** Levels that each last for so many values, with noise of the given width. */
const steps = (levels: readonly number[], length: number, width = 0.02): number[] =>
  levels.flatMap((level) => Array.from({ length }, () => level + width * noise()));

const meanDistance = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, one) => sum + b.reduce((inner, other) => inner + Math.abs(one - other), 0), 0) /
  (a.length * b.length);

/** The definition, split by split. */
const slowSplit = (values: number[]): { at: number; statistic: number } =>
  Array.from({ length: values.length - 2 * SHORTEST + 1 }, (_, index) => {
    const at = index + SHORTEST;
    const [left, right] = [values.slice(0, at), values.slice(at)];
    const statistic =
      ((left.length * right.length) / values.length) *
      (2 * meanDistance(left, right) - meanDistance(left, left) - meanDistance(right, right));
    return { at, statistic };
  }).reduce((best, one) => (one.statistic > best.statistic ? one : best));

test('the best split is that of the definition', () => {
  for (let n = 2 * SHORTEST; n < 30; n++) {
    const values = steps([0, 0.03], Math.ceil(n / 2)).slice(0, n);
    const [found, slow] = [bestSplit(Float64Array.from(values))!, slowSplit(values)];
    expect(found.at).toBe(slow.at);
    expect(found.statistic).toBeCloseTo(slow.statistic, 10);
  }
});

test.each([
  ['too short', [1, 2, 3, 4, 5]],
  ['constant', [2, 2, 2, 2, 2, 2, 2, 2]],
])('%s: no split', (_, values) => {
  expect(bestSplit(Float64Array.from(values))).toBeNull();
  expect(splitTest(Float64Array.from(values), generator(1))).toBeNull();
  expect(changePoints(values)).toEqual([]);
});

test('p: small for a step, not for noise, never 0', () => {
  const step = splitTest(Float64Array.from(steps([0, 0.2], 20)), generator(1))!;
  expect(step.at).toBe(20);
  expect(step.p).toBeLessThan(1e-4);
  expect(step.p).toBeGreaterThan(0);
  expect(splitTest(Float64Array.from(steps([0, 0], 20)), generator(1))!.p).toBeGreaterThan(0.02);
});

describe('change points', () => {
  test.each<[string, number[], number]>([
    ['one step', [0, 0.1], 30],
    ['up and back within a window', [0, 0.1, 0], 20],
    ['stairs', [0, 0.1, 0.2, 0.1], 40],
    ['a small step between long stretches', [0, 0.02], 600],
  ])('%s', (_, levels, length) => {
    const changes = changePoints(steps(levels, length));
    expect(changes).toHaveLength(levels.length - 1);
    for (const [index, { at, before, after }] of changes.entries()) {
      expect(Math.abs(at - (index + 1) * length)).toBeLessThan(length / 10);
      expect(after - before).toBeCloseTo(levels[index + 1]! - levels[index]!, 1);
    }
  });
  test('an episode of a few values in a long history', () => {
    const values = steps([0], 1000);
    for (let at = 500; at < 512; at++) values[at]! += 0.2;
    expect(changePoints(values).map((one) => one.at)).toEqual([500, 512]);
  });
  test('a lone stray is no change', () => {
    const values = steps([0], 60);
    values[30]! += 1;
    expect(changePoints(values)).toEqual([]);
  });
  test('stretching and shifting leave the places; mirroring turns the steps', () => {
    const values = steps([0, 0.1, 0.05], 40);
    const places = changePoints(values).map((one) => one.at);
    expect(changePoints(values.map((one) => 4 * one + 8)).map((one) => one.at)).toEqual(places);
    const mirrored = changePoints(values.map((one) => -one));
    expect(mirrored.map((one) => one.at)).toEqual(places);
    expect(mirrored[0]!.after).toBeLessThan(mirrored[0]!.before);
  });
  test.each([[[]], [[1]], [[1, 2, 1, 2, 1]]])('%p is too short', (values) =>
    expect(changePoints(values)).toEqual([]),
  );
  test('the same values and seed, the same changes', () => {
    const values = steps([0, 0.05], 50);
    expect(changePoints(values, { seed: 3 })).toEqual(changePoints(values, { seed: 3 }));
  });
});

/** A history with a step that each call invents. */
const quiet = steps([0], 12, 0.01).map((value, at) => ({ commit: `q${at}`, value }));
const runsFor = (step: number) =>
  bisectAdvice([], quiet, [{ at: 5, p: 0.001, before: 0, after: step }])[0]!.runs;

describe('what to measure next', () => {
  const commits = Array.from({ length: 41 }, (_, at) => `c${at}`);
  /** Every fourth commit measured; the step comes with c22. */
  const runs = commits
    .map((commit, at) => ({ commit, value: (at >= 22 ? 0.1 : 0) + 0.01 * noise() }))
    .filter((_, at) => at % 4 === 0);
  test('the middle of the commits between, until none is left', () => {
    const measured = [...runs];
    const asked: (string | null)[] = [];
    for (;;) {
      const [advice, ...rest] = bisectAdvice(commits, measured);
      expect(rest).toEqual([]);
      asked.push(advice!.next);
      if (advice!.next === null) {
        expect([advice!.good, advice!.bad]).toEqual(['c21', 'c22']);
        break;
      }
      const at = commits.indexOf(advice!.next);
      measured.push({ commit: advice!.next, value: at >= 22 ? 0.1 : 0 });
      measured.sort((a, b) => commits.indexOf(a.commit) - commits.indexOf(b.commit));
    }
    expect(asked).toEqual(['c22', 'c21', null]);
  });
  test('no change, no advice', () => expect(bisectAdvice(commits, runs.slice(0, 5))).toEqual([]));
  test('commits that the repository does not know have none between', () =>
    expect(bisectAdvice([], runs)[0]).toMatchObject({ next: null, between: 0 }));
  test('small steps need more runs', () => {
    expect(runsFor(0.1)).toBe(1);
    expect(runsFor(-0.005)).toBeGreaterThan(runsFor(0.01));
  });
  test('noise is read past the steps', () => {
    const width = noiseOf(steps([0, 0], 200));
    expect(noiseOf(steps([0, 5, 0, 5], 100)) / width).toBeCloseTo(1, 0);
    expect(noiseOf([1])).toBe(0);
  });
});

import { describe, expect, test } from 'bun:test';
import { sequenceOf } from '../../shared/sequence.ts';
import type { Plan, Step } from '../../schemas/plan.ts';
import type { SessionLine } from '../../shared/session-log.ts';
import { timeInWords } from '../../shared/time-words.ts';
import { Progress, viewInWords } from './progress.ts';

const planOf = (turns: number[], rounds: number, warmupRounds = 0): Plan => {
  const compact = {
    mode: 'compare',
    profile: {
      targets: [
        { name: 'new', role: 'candidate' },
        { name: 'old', role: 'reference' },
        { name: 'nothing', role: 'floor' },
      ],
    },
    turns,
    rounds,
    warmupRounds,
    order: 'rotate',
    orderSeed: 0,
  } as unknown as Plan['compact'];
  return { format: 'plan/1', compactSha256: '', compact, steps: sequenceOf(compact) };
};
const line = (step: Step, turn: number[]): SessionLine => ({ t: step.step, seq: 0, ...step, turn });

describe('progress', () => {
  test('goes from stage to stage, with rounds that are complete', () => {
    const plan = planOf([50, 500], 3, 1);
    const progress = new Progress(plan);
    const seen: string[] = [];
    const note = (): void => {
      const { stage, done, of } = progress.view();
      seen.push(`${stage} ${done}/${of}`);
    };
    note();
    progress.take({ t: 'pin', seq: 1 }, 0);
    for (const step of plan.steps) {
      note();
      progress.take({ t: 'cpu', seq: 0 }, 1);
      expect(progress.take(line(step, [1, 2]), 1)).toBe(true);
    }
    expect(progress.take({ t: 'done', seq: 2 }, 2)).toBe(true);
    note();
    expect([...new Set(seen)]).toEqual([
      'starting 0/4',
      'seeds 0/4',
      'seeds 1/4',
      'seeds 2/4',
      'seeds 3/4',
      'warm-up 0/1',
      'rounds 0/3',
      'rounds 1/3',
      'rounds 2/3',
      'done 3/3',
    ]);
  });

  test('knows the time left once every kind of step to come was seen', () => {
    const plan = planOf([50], 4);
    const progress = new Progress(plan);
    let now = 0;
    progress.take({ t: 'pin', seq: 1 }, now);
    const costs: Record<string, number> = { new: 1000, old: 2000, nothing: 500 };
    const left: (number | undefined)[] = [];
    for (const step of plan.steps) {
      left.push(progress.view().left_s);
      now += costs[step.target]!;
      progress.take(line(step, [1, 2]), now);
    }
    expect(left.slice(0, 5)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(left.slice(5, 8)).toEqual([10.5, 8.5, 8]);
    expect(progress.view().left_s).toBeUndefined();
  });

  test.each([
    ['in time', (at: number) => at],
    ['late and all at once, after a standstill', () => 600_000],
    ['at once, to one who attaches', () => 0],
  ])('lines that come %s: the time left is what their steps took', (_, arrival) => {
    const plan = planOf([50], 20);
    const progress = new Progress(plan);
    progress.take({ t: 'pin', seq: 1 }, 0);
    for (const [at, step] of plan.steps.slice(0, -30).entries()) {
      progress.take({ t: 'cpu', seq: 0, wallMs: 2000 }, arrival(2000 * (at + 1)));
      progress.take(line(step, [1, 2]), arrival(2000 * (at + 1)));
    }
    expect(progress.view().left_s).toBeGreaterThanOrEqual(60);
    expect(progress.view().left_s).toBeLessThanOrEqual(62);
  });

  test("the CV is that of the reference's warm medians, from three samples on", () => {
    const plan = planOf([50], 3);
    const progress = new Progress(plan);
    const warm = [100, 110, 90];
    for (const step of plan.steps) {
      expect(progress.view().noise).toEqual([]);
      const at = step.sample ?? 0;
      progress.take(
        line(step, step.target === 'old' ? [7, warm[at]! - 1, warm[at]!, warm[at]! + 50] : [1, 1]),
        0,
      );
      if (step.target === 'old' && at === 2) break;
    }
    expect(progress.view().noise).toEqual([{ turns: 50, cv: 0.1 }]);
  });

  test('lines out of the plan are not counted', () => {
    const progress = new Progress(planOf([50], 3));
    expect(progress.take({ t: 'sample', seq: 1, turn: [1, 2] }, 0)).toBe(false);
    expect(progress.view()).toMatchObject({ stage: 'starting', done: 0 });
  });
});

test.each([
  [0.4, '0 s'],
  [89.4, '89 s'],
  [90, '2 min'],
  [3600, '60 min'],
  [5400, '1 h 30 min'],
])('%d s is %s', (seconds, shown) => expect(timeInWords(seconds)).toBe(shown));

test('a view in words', () => {
  const noise = [{ turns: 50, cv: 0.0213 }];
  expect(viewInWords({ stage: 'rounds', done: 3, of: 12, left_s: 130, noise, reference: 'old' })).toBe(
    "3 of 12 rounds done, 2 min left, CV of old's warm 2.1 %",
  );
  expect(
    viewInWords({
      stage: 'seeds',
      done: 0,
      of: 2,
      noise: [...noise, { turns: 500, cv: 0.5 }],
      reference: 'old',
    }),
  ).toBe("seed 1 of 2, CV of old's warm 2.1 % at 50 turns, 50.0 % at 500 turns");
});

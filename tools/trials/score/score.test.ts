/** Scores of trials that were made up, counted again the slow way. */
import { describe, expect, test } from 'bun:test';
import type { TrialLine } from '../../../schemas/trial-line.ts';
import { trialsScore } from '../../../schemas/trials-score.ts';
import { generator } from '../../../shared/evidence/random.ts';
import { problemsOf } from '../../../shared/read.ts';
import { type Asked, scoreOf } from './score.ts';

const IMAGE = `registry.example/task@sha256:${'a'.repeat(64)}`;
const USAGE = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1100 };

const line = (
  task: string,
  arm: string,
  attempt: number,
  reward: number | null,
  more: Partial<TrialLine> = {},
): TrialLine => ({
  t: 'trial',
  task,
  arm,
  attempt,
  model: 'm',
  image: IMAGE,
  reward,
  agentExit: 0,
  agentWallMs: 2000,
  agentCpuMs: 500,
  assistantMessages: 3,
  usage: USAGE,
  verifierExit: reward === null ? null : 0,
  verifierWallMs: reward === null ? null : 1000,
  ...(reward === null ? { error: 'its node is gone', fault: 'infrastructure' as const } : {}),
  ...more,
});

const score = (lines: readonly TrialLine[], more: Partial<Asked> = {}) => {
  const found = scoreOf({ lines, planned: [], inputs: {}, draws: 500, seed: 1, ...more });
  expect(problemsOf(trialsScore, { value: found }, 'score')).toEqual([]);
  return found;
};

test('three states: rates over verdicts, the rest counted and shown', () => {
  const found = score([
    line('a', 'pi', 1, 1),
    line('a', 'pi', 2, 0),
    line('a', 'pi', 3, null),
    line('b', 'pi', 1, 0.5),
    line('b', 'pi', 2, null, { error: 'the agent asked for the tests', fault: 'agent' }),
    line('b', 'pi', 3, null),
  ]);
  expect(found).toMatchObject({ trials: 6, solved: 1, failed: 2, noVerdict: 3 });
  const [pi] = found.arms;
  expect(pi!.rate.value).toBeCloseTo(1 / 3);
  // By task: 1/2 and 0/1.
  expect(pi!.overTasks).toEqual({ value: 0.25, low: null, high: null });
  expect([pi!.rateIfNoneSolved, pi!.rateIfAllSolved]).toEqual([1 / 6, 4 / 6]);
  expect(pi!.withoutVerdict).toEqual([
    { why: 'its node is gone', trials: 2 },
    { why: 'the agent asked for the tests', trials: 1 },
  ]);
  expect(found.tasks[0]!.arms['pi']!.map((one) => one.state)).toEqual(['solved', 'failed', 'no verdict']);
  expect(found.tasks[1]!.arms['pi']![0]).toEqual({
    attempt: 1,
    state: 'failed',
    reward: 0.5,
    agentWall_s: 2,
  });
});

test('tasks that were to have no network are a doubt', () => {
  const wantOffline = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const { doubts } = score([line('a', 'pi', 1, 1)], { wantOffline });
  expect(doubts.find((one) => one.name === 'online')).toMatchObject({ value: 7, threshold: 0 });
  expect(doubts.at(-1)!.sentence).toContain("'a', 'b', 'c', 'd', 'e' and 2 more");
});

test('an arm without any verdict has no rate, which is not 0', () => {
  const [pi] = score([line('a', 'pi', 1, null)]).arms;
  expect(pi!.rate).toEqual({ value: null, low: null, high: null });
  expect(pi!.overTasks.value).toBeNull();
  expect(pi!.passAny).toEqual([{ k: 1, tasks: 0, value: null, low: null, high: null }]);
  expect(pi!.tokens!.perSolved).toBeNull();
});

describe('a trial that was tried again counts once', () => {
  const [lost, won] = [line('a', 'pi', 1, null), line('a', 'pi', 1, 1)];
  test.each([
    [[lost, won], 1],
    [[won, lost], 1],
    [[won, won], 1],
    [[lost, lost], 0],
  ])('%#', (lines, solved) => expect(score(lines)).toMatchObject({ trials: 1, solved }));

  test('two different verdicts are nobody’s to choose from', () =>
    expect(() => score([won, line('a', 'pi', 1, 0)])).toThrow(
      "'a' by 'pi', attempt 1: two verdicts, 1 and 0",
    ));
});

test('what was planned and has no line counts as no verdict, and is doubted', () => {
  const planned = ['a', 'b'].map((task) => ({ task, arm: 'pi', attempt: 1, model: 'm' }));
  const found = score([line('a', 'pi', 1, 1)], { planned });
  expect(found).toMatchObject({ trials: 2, solved: 1, noVerdict: 1 });
  expect(found.doubts.map((one) => one.name)).toEqual(['incomplete', 'without-verdict', 'few-tasks']);
  expect(() => score([line('c', 'pi', 1, 1)], { planned })).toThrow('not one of the run');
});

test('arms with several models are apart', () => {
  const found = score([line('a', 'pi', 1, 1), line('a', 'pi', 1, 0, { model: 'other' })]);
  expect(found.arms.map(({ name, rate }) => [name, rate.value])).toEqual([
    ['pi (m)', 1],
    ['pi (other)', 0],
  ]);
});

test('a difference is first minus second, by task; pairs are trials of the same number', () => {
  const found = score(
    ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((task, at) => [
      line(task, 'x', 1, 1),
      line(task, 'x', 2, at < 3 ? 1 : null),
      line(task, 'y', 1, at < 2 ? 1 : 0),
      line(task, 'y', 2, 0),
    ]),
  );
  const [difference] = found.differences;
  expect(difference).toMatchObject({ first: 'x', second: 'y', tasks: 6 });
  // 1 − 1/2 twice, then 1 − 0 four times.
  expect(difference!.rate.value).toBeCloseTo((2 * 0.5 + 4) / 6);
  expect(difference!.rate.low!).toBeGreaterThanOrEqual(0.5);
  // Pairs: six of number 1 (four differ), three of number 2 (all differ).
  expect(difference!.mcnemar).toMatchObject({ pairs: 9, onlyFirst: 7, onlySecond: 0 });
  expect(difference!.mcnemar.p).toBeCloseTo(2 ** -6, 12);
  // Every task is better by 1 or 2: 2 of 64 signs are as far out.
  expect(difference!.byTask).toEqual({ firstBetter: 6, secondBetter: 0, same: 0, p: 2 / 64, holm: 2 / 64 });
  expect(difference!.sentence).toStartWith("'x' solved +83.3 points against 'y' over 6 tasks (");
});

test('three arms have three differences, with Holm’s p', () => {
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f'];
  const found = score(
    tasks.flatMap((task) => [line(task, 'x', 1, 1), line(task, 'y', 1, 0), line(task, 'z', 1, 0)]),
  );
  expect(found.differences.map((one) => [one.first, one.second, one.byTask.holm])).toEqual([
    ['x', 'y', 6 / 64],
    ['x', 'z', 6 / 64],
    ['y', 'z', 1],
  ]);
});

describe('cost', () => {
  const prices = {
    format: 'prices/1' as const,
    currency: 'USD',
    models: { m: { perMillionTokens: { input: 1, output: 10, cacheRead: 0.1 } } },
  };
  const cached = { ...USAGE, cacheRead: 10_000, totalTokens: 11_100 };
  const written = { ...USAGE, cacheWrite: 1, totalTokens: 1101 };

  test('is per kind of token, of all trials for each solved one', () => {
    const [pi] = score([line('a', 'pi', 1, 1), line('a', 'pi', 2, 0, { usage: cached })], { prices }).arms;
    const one = (1000 + 10 * 100) / 1e6;
    expect(pi!.cost).toMatchObject({ currency: 'USD', trials: 2 });
    expect(pi!.cost!.total).toBeCloseTo(2 * one + 1000 / 1e6, 12);
    expect(pi!.cost!.perSolved).toBeCloseTo(2 * one + 1000 / 1e6, 12);
    expect(pi!.tokens).toMatchObject({ trials: 2, totalTokens: 12_200, perSolved: 12_200 });
  });

  test('and tokens for each solved one are of the same trials; who tells none is a doubt', () => {
    const silent = { usage: null } as unknown as Partial<TrialLine>;
    const lines = [
      line('a', 'pi', 1, 1),
      line('a', 'pi', 2, 0),
      line('b', 'pi', 1, 1, silent),
      line('b', 'pi', 2, 0, silent),
      // Lost by the place: nobody expects its tokens.
      line('b', 'pi', 3, null, silent),
      line('a', 'codex', 1, 1),
      line('a', 'codex', 2, 0),
    ];
    const { arms, doubts } = score(lines, { prices });
    const [codex, pi] = ['codex', 'pi'].map((name) => arms.find((one) => one.name === name)!);
    expect(pi!.tokens).toMatchObject({ trials: 2, totalTokens: 2200, perTrial: 1100, perSolved: 2200 });
    expect(pi!.tokens).toEqual(codex!.tokens);
    expect(pi!.cost).toEqual(codex!.cost);
    expect(doubts.filter((one) => one.name === 'tokens-missing')).toEqual([
      {
        name: 'tokens-missing',
        value: 2,
        threshold: 0,
        sentence:
          "2 of 4 trials of 'pi' with a verdict told no tokens, 1 of them solved: its tokens and their cost, also those for each solved one, are of the other trials alone",
      },
    ]);
    const never = score([line('a', 'pi', 1, 1, silent)]);
    expect(never.doubts.map((one) => one.name)).not.toContain('tokens-missing');
  });

  test('of tokens without a price is not known, and not 0', () => {
    const lines = [line('a', 'pi', 1, 1), line('a', 'pi', 2, 1, { usage: written })];
    const found = score(lines, { prices });
    expect(found.arms[0]!.cost).toMatchObject({ trials: 1, perSolved: null });
    expect(found.doubts.find((one) => one.name === 'unpriced')).toMatchObject({ value: 1 });
    const other = score(lines, { prices: { ...prices, models: {} } });
    expect(other.arms[0]!.cost).toBeNull();
    expect(other.doubts.find((one) => one.name === 'unpriced')!.sentence).toContain("has no model 'm'");
  });

  test('not asked for is none', () => expect(score([line('a', 'pi', 1, 1)]).arms[0]!.cost).toBeNull());
});

test.each([
  ['mixed-images', [line('a', 'pi', 1, 1), line('a', 'pi', 2, 1, { image: IMAGE.replace('aa', 'bb') })]],
  ['token-sums', [line('a', 'pi', 1, 1, { usage: { ...USAGE, cacheRead: 5 } })]],
  ['few-tasks', [line('a', 'pi', 1, 1)]],
  ['without-verdict', [line('a', 'pi', 1, 1), line('a', 'pi', 2, null)]],
  ['uneven-verdicts', [line('a', 'pi', 1, null), line('a', 'codex', 1, 1)]],
] as const)('doubt %s', (name, lines) => expect(score(lines).doubts.map((one) => one.name)).toContain(name));

test('a clean score of enough tasks has no doubt', () => {
  const lines = 'abcde'.split('').flatMap((task) => [line(task, 'pi', 1, 1), line(task, 'codex', 1, 0)]);
  expect(score(lines).doubts).toEqual([]);
});

test('times are of the trials that measured them', () => {
  const lines = [1000, 3000, null].map((agentWallMs, at) => line('a', 'pi', at + 1, 1, { agentWallMs }));
  expect(score(lines).arms[0]!.agentWall_s).toEqual({ trials: 2, median: 2, p95: 2.9, max: 3, total: 4 });
  const none = line('a', 'pi', 1, 1, { agentCpuMs: null, usage: null });
  expect(score([none]).arms[0]).toMatchObject({ agentCpu_s: null, tokens: null });
});

test('the order of the lines changes nothing', () => {
  const random = generator(9);
  const lines = Array.from({ length: 60 }, (_, at) =>
    line(`t${at % 7}`, `arm${at % 3}`, 1 + Math.floor(at / 21), [0, 1, null][Math.floor(random() * 3)]!),
  );
  expect(score(lines.toReversed())).toEqual(score(lines));
});

test('random trials, counted by hand', () => {
  const random = generator(4);
  for (let round = 0; round < 20; round++) {
    const lines = Array.from({ length: 40 }, (_, at) =>
      line(
        `t${at % 5}`,
        at % 2 ? 'x' : 'y',
        1 + Math.floor(at / 10),
        [0, 1, null][Math.floor(random() * 3)]!,
      ),
    );
    const found = score(lines);
    for (const { name, rate, solved, passAny, passAll } of found.arms) {
      const mine = lines.filter((one) => one.arm === name && one.reward !== null);
      expect(solved).toBe(mine.filter((one) => one.reward === 1).length);
      if (mine.length > 0) expect(rate.value).toBeCloseTo(solved / mine.length);
      // Two tries of each task, every way to choose them.
      const [any, all]: [number[], number[]] = [[], []];
      for (const [, tries] of Map.groupBy(mine, (one) => one.task)) {
        const two = tries.flatMap((a, i) => tries.slice(i + 1).map((b) => [a.reward!, b.reward!]));
        if (two.length === 0) continue;
        any.push(two.filter(([a, b]) => a! + b! > 0).length / two.length);
        all.push(two.filter(([a, b]) => a === 1 && b === 1).length / two.length);
      }
      const mean = (values: number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
      if (any.length === 0) continue;
      expect(passAny.find((one) => one.k === 2)!.value).toBeCloseTo(mean(any));
      expect(passAll.find((one) => one.k === 2)!.value).toBeCloseTo(mean(all));
    }
  }
});

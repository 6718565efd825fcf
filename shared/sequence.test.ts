import { describe, expect, test } from 'bun:test';
import type { Step } from '../schemas/plan.ts';
import { rotate, type SequenceInput, sequenceOf, williamsSquare } from './sequence.ts';

/** The spec's order (§5) said as plainly as it can be said, for `rotate`. */
const slowSequence = (input: SequenceInput): Step[] => {
  const names = input.profile.targets
    .filter((one) => input.mode === 'compare' || one.role === 'reference')
    .map((one) => [one.name, one.role] as const);
  const steps: Step[] = [];
  let order = [...names];
  for (const turns of input.turns) {
    for (const [target, role] of order) if (role !== 'floor') steps.push({ step: 'seed', target, turns });
    order.push(order.shift()!);
  }
  for (const [step, rounds] of [
    ['warmup', input.warmupRounds],
    ['sample', input.rounds],
  ] as const) {
    order = [...names];
    for (let round = 0; round < rounds; round++) {
      for (const turns of input.turns)
        for (const [target] of order) steps.push({ step, target, turns, sample: round });
      order.push(order.shift()!);
    }
  }
  return steps;
};

const inputOf = (
  change: Partial<SequenceInput> & { names?: number; floor?: boolean } = {},
): SequenceInput => {
  const { names = 2, floor = false, ...rest } = change;
  return {
    mode: 'compare',
    profile: {
      name: 'p',
      rule: 'p',
      about: '',
      targets: Array.from({ length: names }, (_, at) => ({
        name: `t${at}`,
        role: at === 1 ? 'reference' : floor && at === names - 1 ? 'floor' : 'candidate',
      })),
    } as unknown as SequenceInput['profile'],
    turns: [50],
    rounds: 3,
    warmupRounds: 0,
    order: 'rotate',
    orderSeed: 1,
    ...rest,
  };
};

/** Target names by round of the size given. */
const roundsOf = (steps: readonly Step[], turns: number, kind: Step['step'] = 'sample'): string[][] => {
  const rounds: string[][] = [];
  for (const one of steps)
    if (one.step === kind && one.turns === turns) (rounds[one.sample!] ??= []).push(one.target);
  return rounds;
};

let state = 3;
const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;

describe('the sequence of steps', () => {
  test('rotate: the same as the slow twin, for every shape of plan', () => {
    for (let run = 0; run < 300; run++) {
      const input = inputOf({
        names: 2 + random(5),
        floor: random(2) === 1,
        mode: random(4) === 0 ? 'calibrate' : 'compare',
        turns: [50, 500, 3500].slice(0, 1 + random(3)),
        rounds: 3 + random(10),
        warmupRounds: random(3),
      });
      expect(sequenceOf(input)).toEqual(slowSequence(input));
    }
  });

  test('rotate, by hand: three targets, two sizes', () => {
    const steps = sequenceOf(inputOf({ names: 3, floor: true, turns: [50, 500], warmupRounds: 1 }));
    const written = steps.map((one) =>
      `${one.step[0]} ${one.target} ${one.turns} ${one.sample ?? ''}`.trim(),
    );
    expect(written.join(', ')).toBe(
      [
        's t0 50, s t1 50, s t1 500, s t0 500',
        'w t0 50 0, w t1 50 0, w t2 50 0, w t0 500 0, w t1 500 0, w t2 500 0',
        's t0 50 0, s t1 50 0, s t2 50 0, s t0 500 0, s t1 500 0, s t2 500 0',
        's t1 50 1, s t2 50 1, s t0 50 1, s t1 500 1, s t2 500 1, s t0 500 1',
        's t2 50 2, s t0 50 2, s t1 50 2, s t2 500 2, s t0 500 2, s t1 500 2',
      ].join(', '),
    );
  });

  test('calibrate runs the reference alone', () => {
    const steps = sequenceOf(inputOf({ names: 4, floor: true, mode: 'calibrate', order: 'balanced' }));
    expect(new Set(steps.map((one) => one.target))).toEqual(new Set(['t1']));
    expect(steps.length).toBe(1 + 3);
  });

  test('every order runs each target once per round and size', () => {
    for (const order of ['rotate', 'balanced'] as const)
      for (let run = 0; run < 100; run++) {
        const input = inputOf({
          names: 2 + random(5),
          order,
          orderSeed: random(1000),
          turns: [50, 500],
          rounds: 3 + random(12),
          warmupRounds: random(3),
        });
        const names = input.profile.targets.map((one) => one.name).toSorted();
        const steps = sequenceOf(input);
        for (const turns of input.turns) {
          const rounds = roundsOf(steps, turns);
          expect(rounds.length).toBe(input.rounds);
          for (const round of rounds) expect(round.toSorted()).toEqual(names);
          expect(roundsOf(steps, turns, 'warmup').length).toBe(input.warmupRounds);
        }
      }
  });

  test('rotate turns the items left', () => {
    expect(rotate(['a', 'b', 'c'], 1)).toEqual(['b', 'c', 'a']);
    expect(rotate(['a', 'b', 'c'], 5)).toEqual(['c', 'a', 'b']);
    expect(rotate([], 3)).toEqual([]);
  });
});

/** How often each target directly follows each other one within a round. */
const successions = (rounds: readonly (readonly string[])[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const round of rounds)
    for (const [at, target] of round.entries())
      if (at > 0) {
        const pair = `${round[at - 1]}>${target}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
  return counts;
};

/** Targets whose every predecessor within a round is one and the same, when they had several. */
const captives = (rounds: readonly (readonly string[])[]): string[] => {
  const before = new Map<string, string[]>();
  for (const round of rounds)
    for (const [at, target] of round.entries())
      if (at > 0) before.set(target, [...(before.get(target) ?? []), round[at - 1]!]);
  return [...before].filter(([, all]) => all.length > 1 && new Set(all).size === 1).map(([target]) => target);
};

const ordersOf = (orderSeed: number): string =>
  JSON.stringify(sequenceOf(inputOf({ names: 4, order: 'balanced', orderSeed, rounds: 12 })));

describe('balanced order', () => {
  test('a Williams square: each treatment in each position, and after each other one, equally often', () => {
    for (let n = 2; n <= 9; n++) {
      const rows = williamsSquare(n).map((row) => row.map(String));
      expect(rows.length).toBe(n % 2 === 0 ? n : 2 * n);
      for (let position = 0; position < n; position++) {
        const counts = Map.groupBy(rows, (row) => row[position]);
        expect(counts.size).toBe(n);
        for (const group of counts.values()) expect(group.length).toBe(rows.length / n);
      }
      const pairs = successions(rows);
      expect(pairs.size).toBe(n * (n - 1));
      expect(new Set(pairs.values()).size).toBe(1);
    }
  });

  test('over whole squares of a session every target follows every other equally often', () => {
    for (let names = 2; names <= 6; names++)
      for (let orderSeed = 0; orderSeed < 20; orderSeed++) {
        const rounds = 2 * (names % 2 === 0 ? names : 2 * names);
        const steps = sequenceOf(inputOf({ names, order: 'balanced', orderSeed, rounds }));
        const pairs = successions(roundsOf(steps, 50));
        expect(pairs.size).toBe(names * (names - 1));
        expect(new Set(pairs.values()).size).toBe(1);
      }
  });

  test('no target always follows the same one, from the fewest rounds on; in rotate with three it does', () => {
    for (let names = 3; names <= 6; names++)
      for (let orderSeed = 0; orderSeed < 200; orderSeed++) {
        const rounds = 3 + (orderSeed % 12);
        const steps = sequenceOf(inputOf({ names, order: 'balanced', orderSeed, rounds }));
        expect(captives(roundsOf(steps, 50))).toEqual([]);
      }
    expect(captives(roundsOf(sequenceOf(inputOf({ names: 3, rounds: 12 })), 50))).not.toEqual([]);
  });

  test('the same seed gives the same order, others give others', () => {
    expect(ordersOf(7)).toBe(ordersOf(7));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => ordersOf(seed))).size).toBeGreaterThan(15);
  });

  test('the first of a round is each target equally often over a square', () => {
    const rounds = roundsOf(
      sequenceOf(inputOf({ names: 4, order: 'balanced', orderSeed: 5, rounds: 12 })),
      50,
    );
    const firsts = Map.groupBy(rounds, (round) => round[0]);
    expect([...firsts.values()].map((group) => group.length)).toEqual([3, 3, 3, 3]);
  });
});

/**
 * The sequence of a session's steps from its compact plan: one pure function, used by `plan` to lay it down and by `pod`
 * to run it, so that both sides agree (spec §4, §5). Imports types alone: it is part of pod.mjs.
 */
import type { CompactPlan, Step } from '../schemas/plan.ts';

/** Everything the sequence depends on. */
export type SequenceInput = Pick<
  CompactPlan,
  'mode' | 'profile' | 'turns' | 'rounds' | 'warmupRounds' | 'order' | 'orderSeed'
>;

/** `items` turned left by `by`: the first `by` items go to the end. */
export const rotate = <T>(items: readonly T[], by: number): T[] =>
  items.map((_, at) => items[(at + by) % items.length]!);

/** A small seeded generator (mulberry32): the same plan gives the same order everywhere. */
const generator = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
};

const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other]!, all[at]!];
  }
  return all;
};

/**
 * A Williams design for n treatments: rows in which each treatment stands once in every position and follows every other
 * treatment equally often. n rows when n is even, 2n (each row and its mirror) when odd. E. J. Williams, "Experimental
 * designs balanced for the estimation of residual effects of treatments", Aust. J. Sci. Res. A 2 (1949) 149–168.
 */
export const williamsSquare = (n: number): number[][] => {
  const first = Array.from({ length: n }, (_, at) => (at % 2 === 0 ? at / 2 : n - (at + 1) / 2));
  const rows = first.map((_, by) => first.map((one) => (one + by) % n));
  return n % 2 === 0 ? rows : [...rows, ...rows.map((row) => row.toReversed())];
};

/** Shuffled Williams squares with shuffled labels, one after another, cut to the number of rounds. */
const drawOrders = (n: number, rounds: number, random: () => number): number[][] => {
  const orders: number[][] = [];
  while (orders.length < rounds) {
    const labels = shuffled(
      Array.from({ length: n }, (_, at) => at),
      random,
    );
    orders.push(...shuffled(williamsSquare(n), random).map((row) => row.map((one) => labels[one]!)));
  }
  return orders.slice(0, rounds);
};

/** Whether some target has the same one before it each time, when it comes after another more than once. */
const hasCaptive = (n: number, orders: readonly (readonly number[])[]): boolean =>
  Array.from({ length: n }, (_, target) =>
    orders.map((order) => order[order.indexOf(target) - 1]).filter((before) => before !== undefined),
  ).some((before) => before.length > 1 && new Set(before).size === 1);

/**
 * Orders of n targets for the given number of rounds, in which no target always follows the same one. Whole squares never
 * have such a one; a part of one, in a session of few rounds, may, and is drawn again. Two targets have no choice.
 */
const balancedOrders = (n: number, rounds: number, seed: number): number[][] => {
  const random = generator(seed);
  let orders = drawOrders(n, rounds, random);
  if (n === 2) return orders;
  for (let tries = 0; tries < 100 && hasCaptive(n, orders); tries++) orders = drawOrders(n, rounds, random);
  return orders;
};

/** Every step of a session in order: seeds, warm-up rounds, rounds. `calibrate` runs the reference alone. */
export const sequenceOf = (input: SequenceInput): Step[] => {
  const targets = input.profile.targets.filter((one) => input.mode === 'compare' || one.role === 'reference');
  const steps: Step[] = [];
  for (const [at, turns] of input.turns.entries())
    for (const target of rotate(targets, at))
      if (target.role !== 'floor') steps.push({ step: 'seed', target: target.name, turns });
  const laps = input.warmupRounds + input.rounds;
  const balanced =
    input.order === 'balanced' ? balancedOrders(targets.length, laps, input.orderSeed) : undefined;
  for (let lap = 0; lap < laps; lap++) {
    const warmup = lap < input.warmupRounds;
    const round = warmup ? lap : lap - input.warmupRounds;
    const order = balanced ? balanced[lap]!.map((one) => targets[one]!) : rotate(targets, round);
    for (const turns of input.turns)
      for (const target of order)
        steps.push({ step: warmup ? 'warmup' : 'sample', target: target.name, turns, sample: round });
  }
  return steps;
};

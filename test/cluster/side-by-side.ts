/** Slow tests side by side, few at a time: most of what they do is waiting. Each is told under its own name. */
import { beforeAll, describe, test } from 'bun:test';

/** All others may stand before one. */
const PATIENCE_MS = 600_000;

/** Starts everything, each lane with so many places; gives each thing's promise by its name. */
export const lanes = <T>(
  things: ReadonlyMap<string, { lane: string; begin: () => Promise<T> }>,
  places: Readonly<Record<string, number>>,
): Map<string, Promise<T>> => {
  const queues = new Map<string, (() => void)[]>();
  const free = { ...places };
  const leave = (lane: string): void => {
    const next = queues.get(lane)?.shift();
    if (next) next();
    else free[lane]!++;
  };
  const enter = async (lane: string): Promise<void> => {
    if (free[lane] === undefined) throw new Error(`no lane '${lane}'`);
    if (free[lane] > 0) return void free[lane]--;
    const queue = queues.get(lane) ?? [];
    queues.set(lane, queue);
    await new Promise<void>((go) => queue.push(go));
  };
  const one = async ({ lane, begin }: { lane: string; begin: () => Promise<T> }): Promise<T> => {
    await enter(lane);
    try {
      return await begin();
    } finally {
      leave(lane);
    }
  };
  const all = new Map([...things].map(([name, thing]) => [name, one(thing)]));
  // Each is waited for by its own test; until then a failure is nobody's.
  for (const promise of all.values()) promise.catch(() => undefined);
  return all;
};

/** Tests of one kind, so many at a time, for so long at most. They must not mind each other. */
export const sideBySide = (
  kind: string,
  tests: Readonly<Record<string, () => Promise<void>>>,
  places: number,
  patience_ms = PATIENCE_MS,
): void =>
  describe(kind, () => {
    let begun: Map<string, Promise<void>>;
    beforeAll(() => {
      const all = Object.entries(tests).map(([name, begin]) => [name, { lane: kind, begin }] as const);
      begun = lanes(new Map(all), { [kind]: places });
    });
    test.each(Object.keys(tests))('%s', (name) => begun.get(name)!, patience_ms);
  });

/** Runs many slow things side by side, few at a time: each lane has so many places. */

/** Starts everything; gives each thing's promise by its name. */
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

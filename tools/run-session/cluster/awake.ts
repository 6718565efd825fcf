/**
 * Time that stands still while this process does (SIGSTOP, a machine that sleeps): how long the cluster may take for something
 * is not used up in our sleep, and what was seen before it is looked at again before it counts.
 */

/** Time between looks at the clock that counts as sleep beyond this much, ms. */
const MOST_MS = 2000;
const BEAT_MS = MOST_MS / 2;

/** Sums up a monotonic clock's time, ms, as long as `beat` is called again and again. */
export const awakeClock = (clock: () => number): { beat(): void; now(): number } => {
  let passed = 0;
  let last = clock();
  const counted = (): number => Math.min(clock() - last, MOST_MS);
  return {
    beat() {
      passed += counted();
      last = clock();
    },
    now: () => passed + counted(),
  };
};

let own: ReturnType<typeof awakeClock> | undefined;

/** Time since the first question that this process was awake, ms. */
export const awakeNow = (): number => {
  if (own === undefined) {
    own = awakeClock(() => performance.now());
    setInterval(own.beat, BEAT_MS).unref();
  }
  return own.now();
};

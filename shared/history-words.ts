/** Words of a history, in tables and pages alike. Pure. */

/** A run counts once, by the base name of its `run` (spec §7). */
export const runName = (run: string): string => run.replace(/\/+$/, '').split('/').at(-1)!;

/** A change of a ratio as people write it: `+4.2 %`. */
export const stepText = (step: number): string =>
  `${step >= 1 ? '+' : '−'}${Math.abs(100 * (step - 1)).toFixed(1)} %`;

/** `--stop-when decided`: the rule of an early end, laid down before anything is measured. Pure. */
import type { StopWhen } from '../../schemas/plan.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { plannedLooks } from '../../shared/evidence/spending.ts';

export const stopRule = (rounds: number, margin: number): StopWhen => ({
  looks: plannedLooks(rounds),
  margin,
  level: DEFAULTS.level,
  seed: DEFAULTS.seed,
});

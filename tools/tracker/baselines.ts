/** Baseline files, matched to a run's candidates by rule (spec §7). */
import { resolve } from 'node:path';
import { type Baseline, baseline as baselineSchema } from '../../schemas/baseline.ts';
import { usage } from '../../shared/failure.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';

export interface NamedBaseline {
  shown: string;
  values: Baseline;
}

/** A baseline file: values by name beside `core` and `rule`; a whole tracker line is taken by its values. */
export const readBaseline = (shown: string, world: World): NamedBaseline => {
  const found = parseJson(readText(resolve(world.cwd, shown), shown), shown);
  const { values, core, rule } = (found ?? {}) as Record<string, unknown>;
  const flat = typeof values === 'object' && values !== null ? { ...values, core, rule } : found;
  return { shown, values: check(baselineSchema, { value: flat }, shown) };
};

/**
 * Rule → its baseline. One candidate takes the only baseline, unless that names another rule; several candidates take
 * theirs by rule. A baseline that nothing is compared with is a mistake, and is said to be one.
 */
export const matchBaselines = (
  baselines: readonly NamedBaseline[],
  rules: readonly string[],
): Map<string, Baseline> => {
  const matched = new Map<string, Baseline>();
  const problems: string[] = [];
  for (const { shown, values } of baselines) {
    const rule = values.rule ?? (rules.length === 1 ? rules[0] : undefined);
    if (rule === undefined)
      problems.push(
        `baseline '${shown}' names no rule, and this run has several: ${rules.join(', ')}; add "rule"`,
      );
    else if (!rules.includes(rule))
      problems.push(`baseline '${shown}' is of rule '${rule}', this run of ${rules.join(', ')}`);
    else if (matched.has(rule)) problems.push(`baseline '${shown}' is a second one for rule '${rule}'`);
    else matched.set(rule, values);
  }
  if (problems.length > 0) throw usage(problems);
  return matched;
};

/** How long a session will take, from the last one alike that was measured beside it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { run as runSchema } from '../../schemas/run.ts';
import { readText } from '../../shared/read.ts';
import type { Plan } from '../../schemas/plan.ts';
import type { Estimate } from './show.ts';

/** Runs looked at, newest first: enough to find one alike, few enough not to be felt. */
const LOOKED_AT = 50;

/** A JSON text, or undefined: an estimate is worth no error. */
const parsed = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
};

/** Seconds from the first line of a log to its `done`; undefined when it is not finished. */
const measuredSeconds = (log: string): number | undefined => {
  const lines = log.split('\n');
  const done = lines.findLast((line) => line.startsWith('{"t":"done"'));
  const [began, ended] = [lines[0], done].map((line) =>
    Date.parse(String((parsed(line) as { at?: unknown })?.at)),
  );
  const seconds = (ended! - began!) / 1000;
  return seconds > 0 ? seconds : undefined;
};

/** A run alike: same mode, profile and sizes. Its time per step, times the steps of this plan. */
export const estimateOf = (out: string, plan: Plan): Estimate | undefined => {
  if (!existsSync(out)) return undefined;
  const { mode, profile, turns, delivery } = plan.compact;
  const newest = readdirSync(out, { withFileTypes: true })
    .filter((one) => one.isDirectory() && existsSync(join(out, one.name, 'pod.log')))
    .map((one) => ({ name: one.name, at: statSync(join(out, one.name, 'pod.log')).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { name } of newest.slice(0, LOOKED_AT)) {
    const file = (which: string): string => join(out, name, which);
    const before = v.safeParse(
      runSchema,
      parsed(existsSync(file('run.json')) ? readText(file('run.json')) : undefined),
    );
    if (!before.success) continue;
    const alike =
      before.output.mode === mode &&
      before.output.profile === profile.name &&
      before.output.delivery === delivery &&
      String(before.output.turns) === String(turns);
    const steps = alike
      ? (parsed(readText(file('plan.json'))) as Partial<Plan> | undefined)?.steps?.length
      : undefined;
    const seconds = steps ? measuredSeconds(readText(file('pod.log'))) : undefined;
    if (steps && seconds !== undefined) return { seconds: (seconds / steps) * plan.steps.length, from: name };
  }
  return undefined;
};

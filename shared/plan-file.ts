/** plan.json as it was laid down, and the compact plan's exact text in it. */
import { type Plan, plan as planSchema } from '../schemas/plan.ts';
import { failed } from './failure.ts';
import { sha256 } from './files.ts';
import { parseJson, readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

/** The plan, and the compact plan as JSON text; one that is not the text whose digest stands beside it is refused. */
export const readPlan = (run: RunDirectory): { plan: Plan; compact: string } => {
  const plan = run.json('plan.json', planSchema);
  // As written: a checked copy has its keys in another order, which is another text.
  const written = parseJson(readText(run.file('plan.json')), 'plan.json') as { compact: unknown };
  const compact = JSON.stringify(written.compact);
  if (sha256(compact) !== plan.compactSha256)
    throw failed(`'${run.shown}/plan.json' was changed: its compact plan has another digest; plan again`);
  return { plan, compact };
};

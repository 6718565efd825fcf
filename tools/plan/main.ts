#!/usr/bin/env bun
import { join, resolve } from 'node:path';
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { jsonText } from '../../shared/read.ts';
import { runPath } from '../../shared/rundir.ts';
import { askedOf } from './ask.ts';
import { estimateOf } from './estimate.ts';
import { flags } from './flags.ts';
import { planOf } from './lay-down.ts';
import { overLimit, planTable } from './show.ts';
import { idOf, writeNamed, writeNew } from './write.ts';

const more = `
WHAT IT WRITES

  <out>/<run>/  run.json  plan.json  profile.json  values.json
  Prints the run directory's path. With --sessions or --spread, each child's directory
  <run>-n<k> inside it holds the same four files.

EXAMPLES

  k8sbench plan --local --turns 500
  k8sbench plan --local --for-effect 5% --from out/RUN --stop-when decided
  k8sbench plan --local --out - | jq '.steps | length'
  k8sbench profile --reference 'grep -c x f' --candidate 'rg -c x f' | k8sbench plan --local --profile -
`;

export const tool = defineTool({
  name: 'plan',
  about: 'refuses all that can be refused early, and lays down every step of a session',
  flags,
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged],
  async run({ flags: given, given: written, world, talk }) {
    const { request, said } = await askedOf(given, world, written);
    for (const one of said) talk.info(one);
    const now = world.now();
    const out = { path: resolve(world.cwd, given.out!), shown: given.out! };
    if (given.out === '-' || given['dry-run']) {
      const plan = planOf(request.session, idOf(request, now, 0));
      const estimate = given.out === '-' ? undefined : estimateOf(out.path, plan);
      talk.print(planTable(request, plan, estimate));
      for (const one of overLimit(request, estimate)) talk.warn(one);
      await world.stdout.write(jsonText(plan));
      return EXIT.done;
    }
    const shown = given.run === undefined ? undefined : await runPath(given.run, world);
    const { run, laid, skipped } =
      shown === undefined
        ? writeNew(request, out, now)
        : writeNamed(request, { path: resolve(world.cwd, shown), shown }, now, given.force);
    if (skipped) talk.info(`'${run.shown}' is there already, planned from the same inputs`);
    else {
      const estimate = estimateOf(join(run.path, '..'), laid.plan);
      talk.print(planTable(request, laid.plan, estimate));
      for (const one of overLimit(request, estimate)) talk.warn(one);
    }
    await world.stdout.write(`${run.shown}\n`);
    return EXIT.done;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);

/** From flags to a page in its place. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Call } from '../../shared/command-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { sha256, touch, writeAtomically } from '../../shared/files.ts';
import type { Flag } from '../../shared/flags.ts';
import { readText } from '../../shared/read.ts';
import { openRun } from '../../shared/rundir.ts';
import { isOfTrials } from '../../shared/trials-results.ts';
import { VERSION } from '../../shared/version.ts';
import { madeMark } from './made-mark.ts';
import type { PagePlan } from './page-plan.ts';

type Text = Flag<string | undefined>;
type ViewCall = Call<{ run: Text; track: Text; changes: Text; out: Text; force: Flag<boolean> }>;

const planOf = async ({ flags, world }: ViewCall): Promise<PagePlan> => {
  const problems = [
    ...((flags.run === undefined) === (flags.track === undefined)
      ? [
          flags.run === undefined
            ? "nothing to show: name a run with '--run DIR', or a history with '--track FILE'"
            : "'--run' and '--track' exclude each other: make two pages",
        ]
      : []),
    ...(flags.changes !== undefined && flags.track === undefined
      ? ["'--changes' belongs to a history: name it with '--track FILE'"]
      : []),
  ];
  if (problems.length > 0) throw usage(problems);
  if (flags.track !== undefined) {
    const { historyPlan } = await import('./history.ts');
    return historyPlan(flags.track, flags.changes, world);
  }
  const run = await openRun(flags.run, world);
  if (isOfTrials(run)) {
    const { trialsPlan } = await import('./trials.ts');
    return trialsPlan(run);
  }
  const { runPlan } = await import('./run.ts');
  return runPlan(run);
};

/** How much of an existing page is looked at for its mark. */
const isMadeFrom = (path: string, mark: string): boolean =>
  existsSync(path) && readText(path).slice(0, 1000).includes(mark);

export const show = async (call: ViewCall): Promise<Exit> => {
  const { flags, world, talk } = call;
  const plan = await planOf(call);
  const made = sha256(JSON.stringify([VERSION, plan.inputs]));
  const path = resolve(world.cwd, flags.out ?? plan.out);
  if (flags.out !== '-' && !flags.force && isMadeFrom(path, madeMark(made))) {
    talk.info(`'${flags.out ?? plan.out}' is made already, from the same inputs; --force makes it again`);
    touch(path);
  } else {
    // Loaded when a page is made: making its script takes longer than everything else.
    const { pageText } = await import('./document.ts');
    const page = pageText({ ...(await plan.make()), made });
    if (flags.out === '-') {
      await world.stdout.write(page);
      return EXIT.done;
    }
    writeAtomically(path, page);
    talk.info(`'${flags.out ?? plan.out}' is there to look at (${Math.ceil(page.length / 1000)} kB)`);
  }
  await world.stdout.write(`${plan.printed}\n`);
  return EXIT.done;
};

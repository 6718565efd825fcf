/** The file that a CI system shows with a step ($GITHUB_STEP_SUMMARY), and what of an attempt is told there. */
import { appendFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { analysis as analysisSchema } from '../../schemas/analysis.ts';
import { calibration as calibrationSchema } from '../../schemas/calibration.ts';
import { cause } from '../../shared/failure.ts';
import { runDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import type { World } from '../../shared/world.ts';
import type { Attempt, ChainEnd } from './chain.ts';
import { type Ended, stepSummary } from './step-summary.ts';

/** What is read of a run directory: only what this attempt wrote into it. */
const written = ({ run, last, exit }: ChainEnd, world: World): Pick<Ended, 'analysis' | 'calibration'> => {
  if (run === undefined || (last !== 'analyze' && last !== 'tracker')) return {};
  const directory = runDirectory(resolve(world.cwd, run), run);
  if (!directory.has('analysis.json')) return {};
  const analysis = directory.json('analysis.json', analysisSchema);
  // An analysis that failed left an earlier one as it was.
  if (last === 'analyze' && analysis.exit !== exit) return {};
  return {
    analysis,
    ...(analysis.mode === 'calibrate' && directory.has('calibration.json')
      ? { calibration: directory.json('calibration.json', calibrationSchema) }
      : {}),
  };
};

/** Appends what there is to say of an attempt; a summary that can't be written changes nothing about the run. */
export const appendSummary = (
  file: string,
  pipeline: string,
  end: Attempt,
  { world, talk }: { world: World; talk: Talk },
): void => {
  try {
    const path = resolve(world.cwd, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is not a file');
    const text = stepSummary({
      pipeline,
      exit: end.exit,
      attempt: end.attempt,
      attempts: end.attempts,
      problems: end.errors,
      ...(end.run === undefined ? {} : { run: end.run }),
      host: world.host,
      ...written(end, world),
    });
    appendFileSync(path, text);
  } catch (error) {
    talk.warn(`no summary in '${file}' ($GITHUB_STEP_SUMMARY): ${cause(error)}`);
  }
};

/** What is asked of an analysis and told of it: made now, or found done; its tables, and its path or its JSON. */
import { readAttempts } from '../../shared/attempts.ts';
import type { Exit } from '../../shared/exit.ts';
import { jsonText, readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import { painter } from '../../shared/terminal.ts';
import type { World } from '../../shared/world.ts';
import { analyze } from './analyze.ts';
import { clockWarning } from './endings.ts';
import { PAGE, touchOutputs } from './output-files.ts';
import { calibrationIn, previousAnalysis } from './outputs.ts';
import { reportText } from './report.ts';
import { type Flags, requestOf } from './request.ts';
import { stripsFor } from './strips-for.ts';

interface Asked extends Flags {
  force: boolean;
  json: boolean;
  out: '-' | undefined;
}

/** Instead of the run's path. */
export const printsJson = ({ json, out, log }: Pick<Asked, 'json' | 'out' | 'log'>): boolean =>
  json || out === '-' || log !== undefined;

/** Gives the exit status. Throws a Failure with 5 when the run is invalid and has nothing to be analyzed. */
export const answer = async (
  flags: Asked,
  directory: RunDirectory | undefined,
  world: World,
  talk: Talk,
): Promise<Exit> => {
  const request = requestOf(flags, directory, world);
  const previous = flags.force ? undefined : await previousAnalysis(request);
  if (previous && directory) {
    talk.info(`'${directory.shown}' is analyzed already, from the same inputs; --force does it again`);
    touchOutputs(directory);
  }
  const page = directory?.has(PAGE);
  const { analysis, calibration } =
    previous && directory
      ? { analysis: previous, calibration: calibrationIn(directory) }
      : await analyze(request, world.interrupted);
  if (page && directory && !directory.has(PAGE))
    talk.info(
      `'${directory.shown}/${PAGE}' showed the analysis before: removed; 'k8sbench view' makes it anew`,
    );
  const clock = directory && clockWarning(readAttempts(directory), world.now());
  if (clock) talk.warn(clock);
  const colours = world.stderr.isTerminal && !world.env['NO_COLOR'];
  const strips = flags.json ? undefined : stripsFor(directory, analysis, world.stderr);
  if (!flags.json) talk.print(reportText(analysis, calibration, painter(colours), strips));
  // As it stands in the file: reading it by its schema would put its keys in another order.
  const written = previous && directory ? readText(directory.file('analysis.json')) : jsonText(analysis);
  await world.stdout.write(printsJson(flags) ? written : `${directory!.shown}\n`);
  return analysis.exit;
};

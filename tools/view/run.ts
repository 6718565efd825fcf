/** What a run's page is made from. */
import { join } from 'node:path';
import { calibration as calibrationSchema } from '../../schemas/calibration.ts';
import { insidePath } from '../../schemas/manifest.ts';
import { spread as spreadSchema } from '../../schemas/spread.ts';
import { readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { readAnalysis, readRows } from '../../shared/run-results.ts';
import * as v from 'valibot';
import { type LogReadings, readLogReadings } from './log-readings.ts';
import { runPage } from './run-page.ts';
import { seriesOf } from './series.ts';
import type { PagePlan } from './page-plan.ts';

/** Each session's directory, inside the run's. */
const sessionDirectories = (run: RunDirectory, sessions: readonly { run: string }[]): Map<string, string> => {
  if (!run.has('spread.json')) return new Map(sessions.slice(0, 1).map((one) => [one.run, '']));
  return new Map(
    run
      .json('spread.json', spreadSchema)
      .children.filter((one) => v.is(insidePath, one.dir))
      .map((one) => [one.run, one.dir]),
  );
};

export const runPlan = async (run: RunDirectory): Promise<PagePlan> => {
  const analysis = await readAnalysis(run);
  const directories = sessionDirectories(run, analysis.sessions);
  return {
    inputs: await run.digests([
      'analysis.json',
      'results.jsonl',
      'calibration.json',
      'ENV.txt',
      ...[...directories.values()].map((one) => join(one, 'pod.log')),
    ]),
    out: join(run.shown, 'report.html'),
    printed: run.shown,
    async make() {
      const readings = new Map<string, LogReadings>();
      for (const [session, inside] of directories)
        readings.set(session, readLogReadings(run.file(inside), join(run.shown, inside)));
      return runPage({
        payload: { format: 'report/1', analysis, ...seriesOf(analysis, readRows(run, analysis), readings) },
        ...(run.has('calibration.json')
          ? { calibration: run.json('calibration.json', calibrationSchema) }
          : {}),
        ...(run.has('ENV.txt') ? { env: readText(run.file('ENV.txt'), join(run.shown, 'ENV.txt')) } : {}),
      });
    },
  };
};

/** What a page of trials is made from. */
import { join } from 'node:path';
import type { RunDirectory } from '../../shared/rundir.ts';
import { readScore } from '../../shared/trials-results.ts';
import type { PagePlan } from './page-plan.ts';
import { trialsPage } from './trials-page.ts';

export const trialsPlan = async (run: RunDirectory): Promise<PagePlan> => {
  const score = readScore(run);
  return {
    inputs: await run.digests(['trials-score.json']),
    out: join(run.shown, 'report.html'),
    printed: run.shown,
    make: async () => trialsPage(score, run.name),
  };
};

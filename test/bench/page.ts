/** The page of a run: how large it is, and how soon a browser has drawn the first figures of it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { launch, open } from '../browser/browser.ts';
import { FOUR, noisy, runOf } from '../browser/made-runs.ts';
import { type Bed, tool } from './bed.ts';
import { type Figure, figureOf, notMeasured } from './figure.ts';
import { run } from './process-run.ts';

const ROW = 'page';

/** The page of a session of four targets, made by the program itself. */
const pageOf = async (bed: Bed, rounds: number, turns: number[]): Promise<string> => {
  const directory = await runOf(
    join(bed.directory, `page-${rounds}`),
    noisy({ rounds, turns, targets: FOUR }),
  );
  await run([...tool('view'), '--run', directory]);
  return join(directory, 'report.html');
};

const sizeOf = (page: string, what: string): Figure =>
  figureOf({ row: ROW, what, goal: { most: 1.5 }, unit: 'MB', from: 'four targets' }, [
    statSync(page).size / 1e6,
  ]);

export const pages = async (bed: Bed): Promise<Figure[]> => {
  const short = sizeOf(await pageOf(bed, 12, [50, 500, 3500]), 'page of 12 rounds at 3 sizes');
  const long = await pageOf(bed, 1000, [50]);
  const opening = {
    row: ROW,
    what: 'page of 1,000 rounds opens: until its first figures are drawn',
    goal: { most: 2 },
    unit: 's' as const,
  };
  try {
    const browser = await launch();
    const times: number[] = [];
    for (let at = 0; at < bed.repetitions; at++) {
      const { page: opened, openedMs } = await open(browser, long);
      times.push(openedMs / 1000);
      await opened.context().close();
    }
    await browser.close();
    const from = `${(statSync(long).size / 1e6).toFixed(1)} MB, four targets, Chromium ${browser.version()}`;
    return [short, figureOf({ ...opening, from }, times)];
  } catch (error) {
    return [short, notMeasured(opening, error instanceof Error ? error.message.split('\n')[0]! : `${error}`)];
  }
};

/** trials.jsonl as it grows: what is known of each trial, and lines added once. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { appendUnderLock } from '../../shared/append.ts';
import { readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import { plainJson } from '../../shared/terminal.ts';
import { LINES_FILE } from '../../shared/trials-results.ts';
import { linesOf } from './lines.ts';

type Named = Pick<TrialLine, 'task' | 'arm' | 'attempt'>;

export const keyOf = ({ task, arm, attempt }: Named): string => JSON.stringify([task, arm, attempt]);

/** It has a verdict, or lost it by its own doing: it is not tried again, and no later line counts. */
export const isFinal = ({ reward, fault }: TrialLine): boolean =>
  reward !== null || fault !== 'infrastructure';

/** Each trial's line that counts: the final one, else the newest. */
export const knownOf = (lines: readonly TrialLine[]): Map<string, TrialLine> => {
  const known = new Map<string, TrialLine>();
  for (const line of lines) {
    const before = known.get(keyOf(line));
    if (!before || !isFinal(before)) known.set(keyOf(line), line);
  }
  return known;
};

export const readLines = (run: RunDirectory): TrialLine[] => {
  const path = run.file(LINES_FILE);
  return existsSync(path) ? linesOf(readText(path), join(run.shown, LINES_FILE)) : [];
};

/** Whether a line says something that the known one doesn't: nothing comes after a final one, and a loss is told once a Job. */
const isNews = (known: TrialLine | undefined, line: TrialLine): boolean =>
  known === undefined ||
  (!isFinal(known) &&
    (isFinal(line) || (known as { jobUid?: unknown }).jobUid !== (line as { jobUid?: unknown }).jobUid));

/**
 * Adds lines with one write under the file's lock; those that another collector added meanwhile are left out. Gives what is
 * known afterwards.
 */
export const addLines = (
  run: RunDirectory,
  lines: readonly TrialLine[],
  talk: Talk,
): Map<string, TrialLine> => {
  let known = new Map<string, TrialLine>();
  const repair = appendUnderLock(run.file(LINES_FILE), () => {
    const before = readLines(run);
    known = knownOf(before);
    const news = lines.filter((one) => {
      if (!isNews(known.get(keyOf(one)), one)) return false;
      known.set(keyOf(one), one);
      return true;
    });
    return news.map((one) => `${plainJson(JSON.stringify(one))}\n`).join('');
  });
  if (repair?.kind === 'torn')
    talk.warn(
      `'${join(run.shown, LINES_FILE)}' ended in a line torn by a crash; its ${repair.bytes} bytes are in '${repair.side}' now, and its trial is collected again`,
    );
  return known;
};

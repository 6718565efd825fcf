import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { type Attempt, attempt } from '../schemas/attempt.ts';
import { appendUnderLock } from './append.ts';
import { readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

/** attempts.jsonl stands beside the run directories, one per `--out`. */
export const attemptsPath = (run: RunDirectory): string => join(dirname(run.path), 'attempts.jsonl');

/** Appends one attempt; an ending already recorded (the same line) is not repeated. */
export const recordAttempt = (run: RunDirectory, entry: Omit<Attempt, 'format'>): void => {
  const path = attemptsPath(run);
  const line = JSON.stringify({ format: 'attempt/1', ...entry });
  appendUnderLock(path, () => (`\n${readText(path)}`.includes(`\n${line}\n`) ? '' : `${line}\n`));
};

/**
 * Attempts recorded so far, oldest first. Lines that can't be read (torn by a crash, of another version) are left out: a
 * damaged record of other runs is no reason to refuse this one.
 */
export const readAttempts = (run: RunDirectory): Attempt[] => {
  const path = attemptsPath(run);
  if (!existsSync(path)) return [];
  const found: Attempt[] = [];
  for (const [line] of readText(path).matchAll(/^\{.*\}$/gm))
    try {
      found.push(v.parse(attempt, JSON.parse(line), { abortEarly: true }) as Attempt);
    } catch {
      // See above.
    }
  return found;
};

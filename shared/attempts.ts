import { existsSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Attempt, attempt } from '../schemas/attempt.ts';
import { withLock } from './files.ts';
import { check, parseJson, readText } from './read.ts';
import type { RunDirectory } from './rundir.ts';

/** attempts.jsonl stands beside the run directories, one per `--out`. */
export const attemptsPath = (run: RunDirectory): string => join(dirname(run.path), 'attempts.jsonl');

/** Appends one attempt, with one write under a lock; an ending already recorded (same run, time and outcome) is not repeated. */
export const recordAttempt = (run: RunDirectory, entry: Omit<Attempt, 'format'>): void => {
  const path = attemptsPath(run);
  const line = `${JSON.stringify({ format: 'attempt/1', ...entry })}\n`;
  withLock(path, (fd) => {
    if (!readText(path).split('\n').includes(line.trimEnd())) writeSync(fd, line);
  });
};

/** Attempts recorded so far, oldest first. A line torn by a crash is left out: it is a record of nothing. */
export const readAttempts = (run: RunDirectory): Attempt[] => {
  const path = attemptsPath(run);
  if (!existsSync(path)) return [];
  const lines = readText(path).split('\n');
  const whole = lines.slice(0, -1);
  return whole.map((line, at) =>
    check(attempt, { value: parseJson(line, `${path}:${at + 1}`) }, `${path}:${at + 1}`),
  );
};

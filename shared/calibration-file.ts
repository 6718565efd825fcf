/** A calibration as somebody names it: its file, or the run directory that holds it. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Calibration, calibration as calibrationSchema } from '../schemas/calibration.ts';
import { type Failure, failed } from './failure.ts';
import { sha256 } from './files.ts';
import { check, parseJson, readText } from './read.ts';

export interface CalibrationFile {
  /** Absolute path of calibration.json. */
  path: string;
  /** The same as it was named. */
  shown: string;
  sha256: string;
  value: Calibration;
}

/** Reads it; `fail` makes the error of one that is missing or doesn't fit: a flag's is a wrong command line. */
export const readCalibrationFile = (
  given: string,
  cwd: string,
  fail: (problems: string | readonly string[]) => Failure = failed,
): CalibrationFile => {
  const about = statSync(resolve(cwd, given), { throwIfNoEntry: false });
  const shown = about?.isDirectory() ? join(given, 'calibration.json') : given;
  const path = resolve(cwd, shown);
  if (!statSync(path, { throwIfNoEntry: false }))
    throw fail(`calibration '${shown}' does not exist; 'k8sbench calibrate' makes one`);
  const text = readText(path, shown);
  const value = check(calibrationSchema, { value: parseJson(text, shown, fail) }, shown, fail);
  return { path, shown, sha256: sha256(text), value };
};

/** The calibration that a run was planned with, asked again once its nodes are known (spec §1): `plan` could only ask for any of them. */
import { calibration as calibrationSchema } from '../../schemas/calibration.ts';
import { run as runSchema } from '../../schemas/run.ts';
import { calibrationFit } from '../../shared/calibration-fit.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';

/** Throws, with exit status 3, when the run's calibration does not vouch for these nodes. */
export const checkCalibration = (run: RunDirectory, nodes: readonly string[]): void => {
  const { calibration, profile, turns } = run.json('run.json', runSchema);
  if (!calibration) return;
  const { path, sha256: digest } = calibration;
  const text = readText(path);
  if (sha256(text) !== digest)
    throw failed(`the calibration '${path}' was changed since '${run.shown}' was planned; plan again`);
  const value = check(calibrationSchema, { value: parseJson(text, path) }, path);
  const problems = calibrationFit(value, { profile, turns, nodes }).flatMap((size) => size.problems);
  if (problems.length > 0) throw new Failure(EXIT.notJudged, problems);
};

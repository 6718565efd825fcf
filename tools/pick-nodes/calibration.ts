/** The calibration that a run was planned with, asked again once its nodes are known (spec §1): `plan` could only ask for any of them. */
import { profile as profileSchema } from '../../schemas/profile.ts';
import { run as runSchema } from '../../schemas/run.ts';
import { readCalibrationFile } from '../../shared/calibration-file.ts';
import { calibrationFit } from '../../shared/calibration-fit.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { countedBy } from '../../shared/sizes.ts';

/** Throws, with exit status 3, when the run's calibration does not vouch for these nodes. */
export const checkCalibration = (run: RunDirectory, nodes: readonly string[]): void => {
  const { calibration, profile, turns } = run.json('run.json', runSchema);
  if (!calibration) return;
  const { path, sha256, value } = readCalibrationFile(calibration.path, run.path);
  if (sha256 !== calibration.sha256)
    throw failed(`the calibration '${path}' was changed since '${run.shown}' was planned; plan again`);
  const counted = countedBy(run.json('profile.json', profileSchema).targets);
  const problems = calibrationFit(value, { profile, turns, nodes, ...counted }).flatMap(
    (size) => size.problems,
  );
  if (problems.length > 0) throw new Failure(EXIT.notJudged, problems);
};

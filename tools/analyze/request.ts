/** What an analysis was asked for: flags, and run.json where they say nothing. */
import type { FailOn } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { readCalibrationFile } from '../../shared/calibration-file.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import type { World } from '../../shared/world.ts';
import { removeOutputs } from './output-files.ts';
import { type Run, runOfDirectory, runOfLog } from './sources.ts';

/** The flags that change what comes out. */
export interface Settings {
  gate: 'auto' | 'wall' | 'cpu';
  maxCv: number;
  allowIncomplete: boolean;
  /** Differences up to this share are the same. */
  margin: number;
  /** Conclusions that end with exit 4. */
  failOn?: FailOn[];
}

export interface Request {
  run: Run;
  settings: Settings;
  /** The calibration to be held to: as it was named, its digest, its content. */
  calibration?: { path: string; sha256: string; content: Calibration };
}

export interface Flags {
  run: string | undefined;
  log: string | undefined;
  calibration: string | undefined;
  'max-cv': number | undefined;
  gate: 'auto' | 'wall' | 'cpu' | undefined;
  'allow-incomplete': boolean;
  margin: number | undefined;
  'fail-on': FailOn[] | undefined;
}

/** The CV limit when nobody names one (spec §1). */
const MAX_CV = 0.05;

/** The run directory that is asked about; undefined: only a log. */
export const directoryOf = async (flags: Flags, world: World): Promise<RunDirectory | undefined> => {
  if ((flags.run === undefined) === (flags.log === undefined))
    throw usage(
      flags.run === undefined
        ? "nothing to analyze: name a run with '--run DIR' or a log with '--log FILE'; '-' reads from stdin"
        : "'--run' and '--log' exclude each other: a run directory has its log",
    );
  return flags.log === undefined ? openRun(flags.run, world) : undefined;
};

export const requestOf = (flags: Flags, directory: RunDirectory | undefined, world: World): Request => {
  const allowIncomplete = flags['allow-incomplete'];
  const run = directory ? logsOf(directory, allowIncomplete) : runOfLog(flags.log!, world);
  const calibration = calibrationOf(flags.calibration, run, world);
  const request: Request = {
    run,
    settings: {
      gate: flags.gate ?? run.plan?.gate ?? 'auto',
      maxCv: flags['max-cv'] ?? run.plan?.maxCv ?? MAX_CV,
      allowIncomplete,
      margin: flags.margin ?? run.plan?.margin ?? DEFAULTS.margin,
      ...(flags['fail-on'] === undefined ? {} : { failOn: flags['fail-on'] }),
    },
    ...(calibration ? { calibration } : {}),
  };
  if (run.plan) refuseMisuse(request, run.plan.mode);
  return request;
};

/** What only a comparison can be asked; told before anything of an earlier analysis is touched. */
export const refuseMisuse = ({ calibration, settings }: Request, mode: 'compare' | 'calibrate'): void => {
  if (mode === 'compare') return;
  const problems = [
    ...(calibration
      ? [`this run is a calibration; it can't be held to another one ('${calibration.path}')`]
      : []),
    ...(settings.failOn
      ? ["this run is a calibration: it concludes nothing that '--fail-on' could be about"]
      : []),
  ];
  if (problems.length > 0) throw usage(problems);
};

/** A run's logs. One that is invalid without any keeps nothing of what was computed from earlier ones. */
const logsOf = (directory: RunDirectory, allowIncomplete: boolean): Run => {
  try {
    return runOfDirectory(directory, allowIncomplete);
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.invalid) removeOutputs(directory);
    throw error;
  }
};

/** The flag's calibration (a file, or the run directory that has it), else the one the run was planned with, unchanged. */
const calibrationOf = (given: string | undefined, run: Run, world: World): Request['calibration'] => {
  const planned = run.plan?.calibration;
  const named = given ?? planned?.path;
  if (named === undefined) return undefined;
  const { shown: path, sha256, value: content } = readCalibrationFile(named, world.cwd);
  if (given === undefined && sha256 !== planned?.sha256)
    throw failed(
      `calibration '${path}' has changed since the run was planned; name the one to be held to with '--calibration FILE'`,
    );
  return { path, sha256, content };
};

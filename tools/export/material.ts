/** What every format is made from. */
import type { Analysis } from '../../schemas/analysis.ts';
import { calibration as calibrationSchema, type Calibration } from '../../schemas/calibration.ts';
import { profile as profileSchema } from '../../schemas/profile.ts';
import type { ResultLine } from '../../schemas/results.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { readAnalysis, readRows, type Role, roleOf, sessionOf } from '../../shared/run-results.ts';
import { metricsOf, type SampleMetric, sampleValues } from '../../shared/sample-values.ts';

/** One sample, with who was measured, where. */
export interface Row {
  /** The session's run id. */
  session: string;
  target: string;
  role: Role;
  turns: number;
  /** From 0. */
  round: number;
  line: ResultLine;
  /** Metric → value in its unit. */
  values: ReadonlyMap<string, number>;
}

export interface Material {
  analysis: Analysis;
  calibration?: Calibration;
  /** Metrics that any row has. */
  metrics: readonly SampleMetric[];
  /** In the order measured. */
  rows: readonly Row[];
  /** Whether each turn is a process of its own: a plain command. */
  processPerTurn: boolean;
}

const isOfCommands = (run: RunDirectory): boolean =>
  run.has('profile.json') && run.json('profile.json', profileSchema).targets.some((one) => one.command);

export const materialOf = async (run: RunDirectory): Promise<Material> => {
  const analysis = await readAnalysis(run);
  const metrics = metricsOf(analysis);
  const rows = readRows(run, analysis).map((line) => ({
    session: sessionOf(analysis, line),
    target: line.target,
    role: roleOf(analysis, line.target),
    turns: line.turns,
    round: line.sample,
    line,
    values: sampleValues(line, metrics),
  }));
  return {
    analysis,
    ...(run.has('calibration.json') ? { calibration: run.json('calibration.json', calibrationSchema) } : {}),
    metrics: metrics.filter(({ key }) => rows.some((one) => one.values.has(key))),
    rows,
    processPerTurn: isOfCommands(run),
  };
};

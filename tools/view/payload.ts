/** What a page carries: the data it draws, embedded once, and what its download gives. Types alone. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { TrialsScore } from '../../schemas/trials-score.ts';
import type { Role } from '../../shared/run-results.ts';
import type { SampleMetric } from '../../shared/sample-values.ts';

export type { Role };

/** A column with a place for each sample; null is not measured. */
export type Column = (number | null)[];

/** What was read around each sample. */
export interface Readings {
  /** When it began, in s since the first sample began; processes one after another, by their wall times. */
  start_s: number[];
  wall_s: Column;
  /** Shares of the wall time: held back by the CPU quota, stolen by other machines, stalled for CPU, memory or io. */
  throttled: Column;
  steal: Column;
  pressure: Column;
  mhz: Column;
  /** The speed probe's time for its fixed work. */
  probe_s: Column;
}

/** The samples of one target at one size in one session, in the order measured. */
export interface Series {
  /** As the evidence calls it. */
  session: string;
  turns: number;
  target: string;
  role: Role;
  /** From 0. */
  rounds: number[];
  /** Metric → values in its unit. */
  values: Record<string, Column>;
  readings?: Readings;
}

export interface RunPayload {
  format: 'report/1';
  analysis: Analysis;
  /** Metrics that any series has. */
  metrics: SampleMetric[];
  series: Series[];
  /** Whose pressure was read: the samples' own, or that of the whole machine. */
  pressureOf?: 'cgroup' | 'machine';
}

/** One run of a history, at one rule and size. */
export interface HistoryPoint {
  at: string;
  run: string;
  commit: string;
  /** main, pr, bisect, …; '' when the line doesn't say. */
  purpose: string;
  /** Metric → the candidate's and the reference's value. */
  values: Record<string, [number, number]>;
}

/** A change point that was found in a history. */
export interface HistoryChange {
  metric: string;
  /** The run after the change, and the commits on either side. */
  run: string;
  before: string;
  after: string;
  /** The ratio's step: after over before. */
  step: number;
  p: number;
}

export interface HistorySeries {
  rule: string;
  turns: number;
  /** What `turns` counts; left out: turns. */
  counted?: 'processes';
  /** Nobody named its size. */
  origin?: 'imported';
  /** What kind of machine; '' when the lines don't say. */
  nodeType: string;
  points: HistoryPoint[];
  changes: HistoryChange[];
}

export interface HistoryPayload {
  format: 'report-history/1';
  track: string;
  metrics: SampleMetric[];
  series: HistorySeries[];
}

export interface TrialsPayload {
  format: 'report-trials/1';
  score: TrialsScore;
}

export type Payload = RunPayload | HistoryPayload | TrialsPayload;

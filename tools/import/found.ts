/** What a file of another program holds: benchmarks, each with its samples. Types alone. */
import type { Basis, SessionDoubt } from '../../shared/evidence/input.ts';

/** One measure of a benchmark. */
export interface FoundMetric {
  /** camelCase, as the rows carry it. */
  key: string;
  unit: string;
  basis: Basis;
  better: 'lower' | 'higher';
}

/** Something that the format can't support. */
export type FoundDoubt = SessionDoubt;

export interface Found {
  /** The other program's own name of it. */
  name: string;
  /** The first is what conclusions are about. */
  metrics: FoundMetric[];
  /** Metric → value, one record for each sample, in the file's order. */
  samples: Record<string, number>[];
  doubts?: FoundDoubt[];
}

export interface FoundFile {
  benchmarks: Found[];
  /** What the file says of the machine and the program, by the file's own words. */
  machine: Record<string, string | number>;
  /** When it was measured, UTC, where the file says. */
  at?: string;
}

export interface Format {
  about: string;
  /** How the program is called that writes it. */
  program: string;
  /** Whether a sample is the mean of many short repetitions, so that a short time is no short measurement. */
  averaged: boolean;
  /** `place` names the file in messages. */
  read(text: string, place: string): FoundFile;
}

/**
 * What the evidence is computed from, and what it says: plain data, so that `analyze`, `plan` and `pod` can each bring
 * their own. Values are by round; a round without a value is null. Times ms.
 */
import type { Conclusion, Doubt, Shown } from '../../schemas/analysis.ts';

export type { Shown };

export type Basis = Conclusion['basis'];
export type Word = Conclusion['conclusion'];

/** One measure that every round has. Measures with one value per session have no place here: they are never judged. */
export interface Metric {
  key: string;
  /** `wall` and `cpu` are times; everything else is a `count`. */
  basis: Basis;
  better: 'lower' | 'higher';
  /** Primary metrics are judged; the others are shown. */
  primary: boolean;
  /** May be negative: differences instead of ratios. */
  signed?: boolean;
  /** The floor's median is subtracted first, when there is a floor (warm, cold). */
  net?: boolean;
  /** The unit of the values, for the words about differences. */
  unit?: string;
}

/** One target at one size: one value per round, in order (warm: that sample's median warm turn, and so on). */
export interface Series {
  target: string;
  turns: number;
  metric: string;
  values: readonly (number | null)[];
}

/** What was read around one sample; a reading that the machine does not offer is left out. */
export interface Reading {
  target: string;
  turns: number;
  round: number;
  /** Place in the order of targets of its size and round, from 0. */
  position: number;
  /** The target that ran just before, in the session's order; left out for the first. */
  predecessor?: string;
  wallMs?: number;
  /** Time CFS held it back, ms. */
  throttledMs?: number;
  /** Time the hypervisor gave the measured cores to others, ms. */
  stealMs?: number;
  /** Time some task of it stalled for CPU, memory or io (the largest of the three), ms. */
  stalledMs?: number;
  /** Time some task of the machine waited for a core while it ran, ms; only where all of the machine's cores are measured. */
  contendedMs?: number;
  /** Mean clock, MHz. */
  mhz?: number;
  /** The speed probe's time for its fixed work, ms. */
  speedMs?: number;
}

export interface Session {
  /** What the words call it: a run id or a node. */
  name: string;
  series: readonly Series[];
  /** In the session's order; of a session of very many rounds no list need be kept. */
  readings?: Iterable<Reading>;
}

export interface EvidenceInput {
  reference: string;
  candidates: readonly string[];
  /** The reference under another name (`--aa`). */
  control?: string;
  floor?: string;
  turns: readonly number[];
  /** What sizes count; left out: turns. */
  counted?: 'processes';
  metrics: readonly Metric[];
  /** One or more; nodes of a spread count as sessions. */
  sessions: readonly Session[];
  /** Part of the question: differences up to this are the same; default 0.03. */
  margin?: number;
  /** The error allowed, two-sided; default 0.05 (intervals of 95 %). */
  level?: number;
  /** Seed of drawn sign patterns and permutations; default 1. */
  seed?: number;
  /** Planned looks (`--stop-when decided`) in rounds, ascending, the last is the planned end; left out: one look at the end. */
  looks?: readonly number[];
  history?: HistoryFacts;
}

/** What came before this run. */
export interface HistoryFacts {
  /** Earlier attempts of the same question that were refused or void. */
  refusedAttempts?: number;
  /** Runs of the rolling window whose reference had another identity (commit or digest) than this run's. */
  otherReferences?: number;
}

export const DEFAULTS = { margin: 0.03, level: 0.05, power: 0.8, seed: 1 } as const;

/** A conclusion of the format, with how many comparisons it was judged together with. */
export type Judged = Conclusion & { family: number };

/** A doubt of the format; `side` says where its value lies when it fires: p below its level, shares above their limit. */
export type SessionDoubt = Doubt & { side: 'above' | 'below' };

export interface Evidence {
  conclusions: Judged[];
  doubts: SessionDoubt[];
  shown: Shown[];
}

/** One checked statement of the truth report, and how it is decided. */

export interface TruthRecord {
  format: 'truth/1';
  /** What is stated: false-alarms, coverage, power, … */
  check: string;
  /** What was simulated. */
  case: string;
  /** How many sessions (or histories) were simulated. */
  count: number;
  /** Seed of the case; session k of it is drawn with seed · 1,000,003 + k. */
  seed: number;
  /** The share that was found. */
  value: number;
  /** `at-most` or `at-least` the limit; `reported`: nothing is promised. */
  holds: 'at-most' | 'at-least' | 'reported';
  /** What the statement allows; null when nothing is promised. */
  limit: number | null;
  /** What the simulation itself may be off by: 3 standard errors of a share at the limit. */
  allowance: number;
  pass: boolean;
}

const LUCK = 3;

type Counted = Pick<TruthRecord, 'check' | 'case' | 'count' | 'seed'> & { hits: number };

const recordOf = (counted: Counted, holds: TruthRecord['holds'], limit: number | null): TruthRecord => {
  const { hits, ...what } = counted;
  const value = hits / what.count;
  const allowance = limit === null ? 0 : LUCK * Math.sqrt((limit * (1 - limit)) / what.count);
  const pass =
    limit === null || (holds === 'at-most' ? value <= limit + allowance : value >= limit - allowance);
  return { format: 'truth/1', ...what, value, holds, limit, allowance, pass };
};

export const atMost = (limit: number, counted: Counted): TruthRecord => recordOf(counted, 'at-most', limit);
export const atLeast = (limit: number, counted: Counted): TruthRecord => recordOf(counted, 'at-least', limit);
export const reported = (counted: Counted): TruthRecord => recordOf(counted, 'reported', null);

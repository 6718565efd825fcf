/** One checked statement of the truth report, and how it is decided. */

export interface TruthRecord {
  format: 'truth/1';
  /** What is stated: false-alarms, coverage, power, … */
  check: string;
  /** What was simulated. */
  case: string;
  /** How many sessions (or histories) were simulated. */
  count: number;
  seed: number;
  /** What was found, a share or a number. */
  value: number;
  /** What the statement allows, Monte-Carlo error left out; null: reported, nothing is promised. */
  limit: number | null;
  /** The statement is `at-most` or `at-least` the limit. */
  holds: 'at-most' | 'at-least';
  /** Allowance for the simulation's own error: 3 standard errors of a share at the limit. */
  allowance: number;
  pass: boolean;
}

const LUCK = 3;

/** A share of simulated sessions against what is promised of it. */
export const share = (
  what: Pick<TruthRecord, 'check' | 'case' | 'count' | 'seed'> & { hits: number },
  holds: TruthRecord['holds'],
  limit: number | null,
): TruthRecord => {
  const { hits, ...rest } = what;
  const value = hits / rest.count;
  const allowance = limit === null ? 0 : LUCK * Math.sqrt((limit * (1 - limit)) / rest.count);
  const pass = limit === null || (holds === 'at-most' ? value <= limit + allowance : value >= limit - allowance);
  return { format: 'truth/1', ...rest, value, limit, holds, allowance, pass };
};

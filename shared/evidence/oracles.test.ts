/** Each statistic against SciPy, statsmodels, diptest and apache-otava: test/truth/oracles.py writes what they say. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changePoints } from './changes.ts';
import { dip } from './dip.ts';
import { normalQuantile, normalTail, studentQuantile, studentTail } from './distributions.ts';
import { bestSplit } from './energy.ts';
import { rankScores, theilSen } from './permuting-rounds.ts';
import { studentPower } from './power.ts';
import { pooled } from './random-effects.ts';
import { hodgesLehmann, signedRanks } from './ranks.ts';
import { sortedCopy } from '../statistics.ts';
import { criticalValues, nullOf, pValue, statisticOf } from './sign-flips.ts';
import { exactTest, intervalOf } from './signed-rank.ts';

interface Oracles {
  format: string;
  signedRank: { values: number[]; p: number; estimate: number; low: number; high: number }[];
  ties: { values: number[]; p: number }[];
  distributions: { x: number; freedom: number; normalTail: number; studentTail: number }[];
  quantiles: { p: number; freedom: number; normal: number; student: number }[];
  power: { shift: number; freedom: number; level: number; power: number }[];
  pooled: {
    effects: number[];
    variances: number[];
    between: number;
    estimate: number;
    low: number;
    high: number;
  }[];
  maxT: { family: number[][]; p: number[] }[];
  theilSen: { values: number[]; slope: number; spearman: number }[];
  dips: { values: number[]; dip: number }[];
  splits: { values: number[]; at: number; statistic: number }[];
  changes: { name: string; values: number[]; otava: number[] }[];
}

const oracles = JSON.parse(
  readFileSync(join(import.meta.dir, '../../test/truth/oracles.json'), 'utf8'),
) as Oracles;

const near = (found: number, wanted: number, relative = 1e-9): void =>
  expect(Math.abs(found - wanted)).toBeLessThanOrEqual(relative * Math.abs(wanted) + 1e-12);

test('the oracles are of this format', () => expect(oracles.format).toBe('oracles/1'));

test.each(oracles.signedRank)(
  'signed-rank p, estimate and interval',
  ({ values, p, estimate, low, high }) => {
    const ascending = sortedCopy(values);
    const found = exactTest(signedRanks(values), 0.05);
    near(found.p, p);
    near(hodgesLehmann(ascending), estimate);
    const [from, to] = intervalOf(ascending, found.critical);
    near(from, low);
    near(to, high);
  },
);

test.each(oracles.ties)('p with ties', ({ values, p }) => near(exactTest(signedRanks(values), 0.05).p, p));

test.each(oracles.distributions)('tails at $x with $freedom degrees', (row) => {
  near(normalTail(row.x), row.normalTail, 1e-11);
  near(studentTail(row.x, row.freedom), row.studentTail, 1e-10);
});

test.each(oracles.quantiles)('quantiles of $p with $freedom degrees', (row) => {
  near(normalQuantile(row.p), row.normal, 1e-10);
  near(studentQuantile(row.p, row.freedom), row.student, 1e-9);
});

// Johnson & Welch's approximation against the noncentral t: within 2 points.
test.each(oracles.power)(
  'power at shift $shift, $freedom degrees, level $level',
  ({ shift, freedom, level, power }) =>
    expect(Math.abs(studentPower(shift, freedom, level) - power)).toBeLessThan(0.02),
);

test.each(oracles.pooled)('sessions pooled, between $between', ({ effects, variances, ...wanted }) => {
  const found = pooled(effects, variances, 0.05);
  // statsmodels stops iterating at its own tolerance.
  near(found.between, wanted.between, 1e-4);
  near(found.estimate, wanted.estimate, 1e-6);
  near(found.low, wanted.low, 1e-5);
  near(found.high, wanted.high, 1e-5);
});

test.each(oracles.maxT)('p of several comparisons at once (max-T)', ({ family, p }) => {
  const ranks = family.map((one) => [signedRanks(one)]);
  const distribution = nullOf(ranks, 1);
  const critical = criticalValues(distribution, [0.05]);
  for (const [at, [own]] of ranks.entries()) near(pValue(distribution, critical, statisticOf(own!)), p[at]!);
});

test.each(oracles.theilSen)('Theil–Sen slope and rank correlation', ({ values, slope, spearman }) => {
  const rounds = Array.from(values.keys());
  near(theilSen(rounds, values), slope);
  const [a, b] = [rankScores(rounds), rankScores(values)];
  near(
    a.reduce((sum, one, at) => sum + one * b[at]!, 0),
    spearman,
  );
});

test.each(oracles.dips)('dip', ({ values, dip: wanted }) => near(dip(sortedCopy(values)), wanted));

test.each(oracles.splits)('best split at $at', ({ values, at, statistic }) => {
  const found = bestSplit(Float64Array.from(values))!;
  expect(found.at).toBe(at);
  near(found.statistic, statistic);
});

describe('change points as apache-otava finds them', () => {
  test.each(oracles.changes)('$name', ({ values, otava }) => {
    const found = changePoints(values).map((one) => one.at);
    expect(found).toHaveLength(otava.length);
    for (const [index, at] of otava.entries()) expect(Math.abs(found[index]! - at)).toBeLessThanOrEqual(1);
  });
});

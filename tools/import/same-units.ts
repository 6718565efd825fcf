/** Both sides of a pair in the same units, or why that can't be. Pure. */
import { failed } from '../../shared/failure.ts';
import type { Pair, Side } from './choose.ts';
import type { Found, FoundMetric } from './found.ts';
import { converted, factorBetween } from './units.ts';

const inUnits = (
  found: Found,
  factors: ReadonlyMap<string, { metric: FoundMetric; factor: number }>,
): Found => ({
  ...found,
  metrics: found.metrics.map((one) => factors.get(one.key)?.metric ?? one),
  samples: found.samples.map((sample) =>
    Object.fromEntries(
      Object.entries(sample).map(([key, value]) => [key, converted(value, factors.get(key)?.factor ?? 1)]),
    ),
  ),
});

const problemOf = (reference: Side, candidate: Side, one: FoundMetric, other: FoundMetric): string[] => {
  if (one.better !== other.better)
    return [
      `'${one.key}' is better ${one.better} in '${reference.target}' and ${other.better} in '${candidate.target}'; measure both alike`,
    ];
  return factorBetween(other.unit, one.unit) === undefined
    ? [
        `'${one.key}' is in ${one.unit} in '${reference.target}' and in ${other.unit} in '${candidate.target}', which can't be compared; measure both in one unit`,
      ]
    : [];
};

/** The candidate's measures in the units of the reference's. */
export const inSameUnits = ({ what, reference, candidate }: Pair): Pair => {
  const problems: string[] = [];
  const factors = new Map<string, { metric: FoundMetric; factor: number }>();
  for (const metric of reference.found.metrics) {
    const other = candidate.found.metrics.find((one) => one.key === metric.key);
    if (!other) continue;
    problems.push(...problemOf(reference, candidate, metric, other));
    factors.set(metric.key, { metric, factor: factorBetween(other.unit, metric.unit) ?? 1 });
  }
  if (problems.length > 0) throw failed(problems);
  return {
    what,
    reference,
    candidate: { target: candidate.target, found: inUnits(candidate.found, factors) },
  };
};

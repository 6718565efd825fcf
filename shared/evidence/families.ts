/** The questions of a session, and the pairs that answer them. Pure. */
import { estimatesOf, type Estimate } from './estimates.ts';
import { DEFAULTS, type EvidenceInput, type Metric, type Session } from './input.ts';
import { isPair, type NoPair, type Pair, pairOf, type Question } from './pairs.ts';

/** Every target against the reference, at every size, on every metric that is wanted: pairs, or why there is none. */
export const familyOf = (
  input: EvidenceInput,
  session: Session,
  targets: readonly string[],
  wanted: (metric: Metric) => boolean,
): (Pair | NoPair)[] =>
  targets.flatMap((target) =>
    input.turns.flatMap((turns) =>
      input.metrics.filter(wanted).map((metric) => pairOf(input, session, { target, turns, metric })),
    ),
  );

export const isPrimary = (metric: Metric): boolean => metric.primary;

/** Whether two are about the same size and metric, whatever their targets. */
export const sameQuestion = (one: Question, other: Question): boolean =>
  one.turns === other.turns && one.metric.key === other.metric.key;

/** What was asked, with the defaults for what was not said. */
export const settingsOf = (input: EvidenceInput) => ({
  margin: input.margin ?? DEFAULTS.margin,
  level: input.level ?? DEFAULTS.level,
  seed: input.seed ?? DEFAULTS.seed,
});

/** Estimates of a family's pairs. */
export const estimatesIn = (input: EvidenceInput, family: readonly (Pair | NoPair)[]): Estimate[] => {
  const { level, seed } = settingsOf(input);
  return estimatesOf(family.filter(isPair), level, seed, input.looks);
};

/** The control against the reference: a family of its own. */
export const controlEstimates = (input: EvidenceInput, session: Session): Estimate[] =>
  input.control === undefined ? [] : estimatesIn(input, familyOf(input, session, [input.control], isPrimary));

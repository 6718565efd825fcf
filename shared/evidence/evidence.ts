/**
 * The evidence of a run (DESIGN §5): conclusions, what is only shown, and doubts. The one entry that `analyze`, `plan` and
 * `pod` use. Pure: the same input gives the same words everywhere.
 */
import { doubtsOf } from './doubts.ts';
import { estimatesOf } from './estimates.ts';
import { DEFAULTS, type Evidence, type EvidenceInput, type Judged, type Shown } from './input.ts';
import { conclusionsOf, familyOf } from './judging.ts';
import { ratioOf } from './pairs.ts';

/** Metrics that are not primary, each by itself. */
const shownOf = (input: EvidenceInput): Shown[] =>
  input.sessions.flatMap((session) => {
    const { pairs } = familyOf(
      input,
      session,
      input.candidates,
      (metric) => !metric.primary && !metric.signed,
    );
    return pairs.map((pair) => {
      const [one] = estimatesOf([pair], input.level ?? DEFAULTS.level, input.seed ?? DEFAULTS.seed);
      const { estimate, low, high, rounds } = one!;
      return {
        session: session.name,
        candidate: pair.target,
        turns: pair.turns,
        metric: pair.metric.key,
        basis: pair.metric.basis,
        ratio: ratioOf(estimate),
        low: ratioOf(low),
        high: ratioOf(high),
        rounds,
      };
    });
  });

/** Everything that may be said of a run, and everything that speaks against it. */
export const evidenceOf = (input: EvidenceInput): Evidence => {
  const { judged, unjudged } = conclusionsOf(input);
  const shown = shownOf(input);
  return { conclusions: judged, doubts: doubtsOf(input, judged, shown), shown, unjudged };
};

/** Whether every conclusion is reached: what `--stop-when decided` asks after each planned look. */
export const isDecided = (conclusions: readonly Judged[]): boolean =>
  conclusions.length > 0 && conclusions.every((one) => one.conclusion !== 'cant-tell');

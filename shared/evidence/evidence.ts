/**
 * The evidence of a run (DESIGN §5): conclusions, what is only shown, and doubts. The one entry that `analyze`, `plan` and
 * `pod` use. Pure: the same input gives the same words everywhere.
 */
import { doubtsOf } from './doubts.ts';
import { estimatesIn, familyOf } from './families.ts';
import type { Evidence, EvidenceInput, Session, Shown } from './input.ts';
import { conclusionsOf } from './judging.ts';
import { isPair, ratioOf } from './pairs.ts';
import { shownSentence } from './sentences.ts';
import { MOST_ROUNDS } from './session-facts.ts';

/** Metrics that are not primary, each by itself; none of a session of very many rounds. */
const shownOf = (input: EvidenceInput, session: Session): Shown[] => {
  if (session.series.some((one) => one.values.length > MOST_ROUNDS)) return [];
  return familyOf(input, session, input.candidates, (metric) => !metric.primary && !metric.signed)
    .filter(isPair)
    .flatMap((pair) => estimatesIn(input, [pair]))
    .map(({ pair, estimate, low, high, rounds }) => {
      const shown: Shown = {
        session: session.name,
        candidate: pair.target,
        turns: pair.turns,
        metric: pair.metric.key,
        basis: pair.metric.basis,
        ratio: ratioOf(estimate),
        low: ratioOf(low),
        high: ratioOf(high),
        rounds,
        sentence: '',
      };
      shown.sentence = shownSentence(shown, input, pair.metric);
      return shown;
    });
};

/** Everything that may be said of a run, and everything that speaks against it. */
export const evidenceOf = (input: EvidenceInput): Evidence => {
  const conclusions = conclusionsOf(input);
  const shown = input.sessions.flatMap((session) => shownOf(input, session));
  return { conclusions, doubts: doubtsOf(input, conclusions, shown), shown };
};

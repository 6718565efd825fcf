/** A run's ending for attempts.jsonl, and how many went before it (DESIGN §3). Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Attempt } from '../../schemas/attempt.ts';
import { EXIT } from '../../shared/exit.ts';
import type { ReadSession } from './sources.ts';

export type Ending = Omit<Attempt, 'format'>;
export type How = Pick<Attempt, 'outcome' | 'exit' | 'reasons'>;

/** A run's ending. Its time is the session's, not the analysis's, so that analyzing again repeats nothing. */
export const endingOf = ({ facts, data }: ReadSession, run: string, how: How): Ending => ({
  at: data.doneAt ?? facts.at,
  run,
  profile: facts.profile,
  rule: facts.rule,
  mode: facts.mode,
  commit: facts.commit,
  ...how,
});

/** The word for how an analysis ended. */
export const outcomeOf = ({ exit, judged }: Pick<Analysis, 'exit' | 'judged'>): Attempt['outcome'] => {
  if (exit === EXIT.invalid) return 'invalid';
  if (exit === EXIT.notJudged) return 'refused';
  return judged ? 'judged' : 'unjudged';
};

/** Clocks of machines that share a directory differ by less, ms. */
const SKEW_MS = 60_000;

/**
 * What to say when attempts are recorded from after `now` (ms since the epoch): whether they came before this run can't be
 * told then. Undefined: nothing.
 */
export const clockWarning = (all: readonly Attempt[], now: number): string | undefined => {
  const latest = all.reduce((most, one) => Math.max(most, Date.parse(one.at)), 0);
  return latest > now + SKEW_MS
    ? `attempts.jsonl has attempts up to ${new Date(latest).toISOString()}, and this machine's clock says ${new Date(now).toISOString()}: which of them came before this run can't be told; check the clock`
    : undefined;
};

/**
 * What ended before this ending with the same profile, rule, commit and mode: other runs, each counted by its last ending,
 * and this run's own refusals, of sessions before this one and, unless this is a refusal too, of this session under
 * another limit.
 */
export const earlierAttempts = (
  all: readonly Attempt[],
  own: Ending,
): NonNullable<Analysis['earlierAttempts']> => {
  const last = new Map<string, Attempt['outcome']>();
  const now = Date.parse(own.at);
  for (const one of all) {
    if (
      one.profile !== own.profile ||
      one.rule !== own.rule ||
      one.commit !== own.commit ||
      (one.mode ?? own.mode) !== own.mode
    )
      continue;
    const at = Date.parse(one.at);
    if (one.run !== own.run) {
      if (at < now) last.set(one.run, one.outcome);
    } else if (one.outcome === 'refused' && (at < now || (at === now && own.outcome !== 'refused')))
      // A line is written once; these differ in their time or their reasons.
      last.set(JSON.stringify(one), one.outcome);
  }
  const count = (...outcomes: Attempt['outcome'][]): number =>
    last
      .values()
      .filter((one) => outcomes.includes(one))
      .toArray().length;
  return { total: last.size, refused: count('refused'), void: count('void', 'invalid', 'failed') };
};

/** Doubts of several sessions, those with the same words together. Pure. */
import type { Analysis, Doubt } from '../schemas/analysis.ts';
import { sessionNames } from './run-results.ts';
import { shortNames } from './short-names.ts';

export interface GroupedDoubt {
  /** The first of them. */
  doubt: Doubt;
  /** The sessions that it is about, short; none where there is one session, or where it is about all. */
  sessions: string[];
}

/** Each sentence once, in the order of its first doubt. */
export const groupedDoubts = (
  analysis: Pick<Analysis, 'sessions'>,
  doubts: readonly Doubt[],
): GroupedDoubt[] => {
  const short = shortNames([...sessionNames(analysis).values()]);
  return [...Map.groupBy(doubts, ({ name, sentence }) => JSON.stringify([name, sentence])).values()].map(
    (its) => ({
      doubt: its[0]!,
      sessions: its.flatMap(({ session }) => (session === undefined ? [] : [short.get(session) ?? session])),
    }),
  );
};

/** A line for each: `steal: … (n1, n3)`; `called`: how a doubt is named in it. */
export const doubtLines = (
  analysis: Pick<Analysis, 'sessions' | 'doubts'>,
  called: (name: string) => string = (name) => name,
): string[] =>
  groupedDoubts(analysis, analysis.doubts).map(
    ({ doubt: { name, sentence }, sessions }) =>
      `${called(name)}: ${sentence}${sessions.length === 0 ? '' : ` (${sessions.join(', ')})`}`,
  );

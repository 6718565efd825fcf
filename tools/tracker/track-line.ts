/** One tracker line from an analysis (spec §7). Rounding happens here and only here. Pure. */
import type { Analysis, Comparison, Verdict } from '../../schemas/analysis.ts';
import type { Baseline } from '../../schemas/baseline.ts';
import type { TrackerLine } from '../../schemas/tracker.ts';
import { historyDoubts } from '../../shared/evidence/doubts.ts';
import { roundHalfUp, roundTo, settled } from '../../shared/statistics.ts';
import { referenceKey, verdictOf } from '../../shared/verdict.ts';
import { summaryOf } from './summary.ts';

const round1 = (value: number): number => roundTo(value, 1);

/** Change in percent against a base: `+12%`, `-3%`, also `-0%`; `n/a` without a base, with 0, or with one too near to it for a number. */
export const deltaText = (value: number, base: unknown): string => {
  if (typeof base !== 'number' || base === 0) return 'n/a';
  const percent = roundHalfUp(settled(Math.abs((100 * (value - base)) / base)));
  return Number.isFinite(percent) ? `${value >= base ? '+' : '-'}${percent}%` : 'n/a';
};

/** First 10 digits of a commit; `-dirty` stays. */
export const coreOf = (commit: string): string => {
  const [digits = '', ...dirty] = commit.split(/(?=-dirty$)/);
  return digits.slice(0, 10) + dirty.join('');
};

/** Exactly one of the two is a win, or exactly one a lose. */
export const disagrees = (run: Verdict, rolling: Verdict): boolean =>
  (run === 'win') !== (rolling === 'win') || (run === 'lose') !== (rolling === 'lose');

/** The rolling median of a reference's value. */
export type RollingMedian = (key: string, own: number) => { value: number; n: number };

/** Each metric that has a verdict, against this run's reference and the rolling one. A rolling median ≤ 0 is no base. */
const compareOf = (
  { values, verdicts }: Comparison,
  metrics: Analysis['metrics'],
  rolling: RollingMedian,
): TrackerLine['compare'] => {
  const compare: TrackerLine['compare'] = {};
  for (const [name, run] of Object.entries(verdicts)) {
    const [candidate, reference] = [values[name]!, values[referenceKey(name)]!];
    const { value, n } = rolling(referenceKey(name), reference);
    if (!(value > 0)) continue;
    const over = verdictOf(candidate, value, metrics.find((one) => one.key === name)?.better);
    compare[name] = {
      pig: round1(candidate),
      piRun: round1(reference),
      piRolling: round1(value),
      nRolling: n,
      run,
      rolling: over,
      disagree: disagrees(run, over),
    };
  }
  return compare;
};

/** What a line needs beside the comparison. */
export interface LineContext {
  /** ISO 8601, UTC, milliseconds. */
  at: string;
  baseline: Baseline | undefined;
  rolling: RollingMedian;
  purpose: string | undefined;
  /** Runs of the rolling window whose reference was another program. */
  otherReferences: number;
}

export const trackLineOf = (
  analysis: Analysis,
  comparison: Comparison,
  { at, baseline, rolling, purpose, otherReferences }: LineContext,
): TrackerLine => {
  const { candidate, reference, turns } = comparison;
  const values: Record<string, number> = {};
  const delta: Record<string, string> = {};
  for (const [name, value] of Object.entries(comparison.values)) {
    values[name] = round1(value);
    delta[name] = deltaText(value, baseline?.[name]);
  }
  const compare = compareOf(comparison, analysis.metrics, rolling);
  const line: Omit<TrackerLine, 'summary' | 'more'> = {
    at,
    rule: comparison.rule,
    warmTurns: comparison.warmTurns,
    core: coreOf(analysis.identities[candidate]?.commit ?? analysis.commit),
    turns,
    fingerprint: comparison.fingerprint,
    run: analysis.run,
    baseline: baseline ? (baseline.core ?? 'none') : 'none',
    values,
    delta,
    compare,
    disagree: Object.keys(compare).filter((name) => compare[name]!.disagree),
  };
  const conclusions = analysis.conclusions.filter(
    (one) => one.candidate === candidate && one.turns === turns,
  );
  return {
    ...line,
    summary: summaryOf(analysis, comparison, line),
    more: {
      values: comparison.values,
      nodeType: analysis.sessions[0]!.nodeType,
      nodes: [...new Set(analysis.sessions.map((one) => one.node))],
      candidate,
      reference,
      identities: Object.fromEntries(
        [candidate, reference].flatMap((name) => {
          const identity = analysis.identities[name];
          return identity ? [[name, identity] as const] : [];
        }),
      ),
      ...(purpose === undefined ? {} : { purpose }),
      ...(analysis.counted === undefined ? {} : { counted: analysis.counted }),
      conclusions,
      ...(otherReferences > 0 ? { doubts: historyDoubts({ otherReferences }) } : {}),
    },
  };
};

/** How far collecting is, in words. Pure. */
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { Trial, Trials } from '../../../schemas/trials.ts';
import { isFinal } from '../trials-file.ts';
import type { Standing } from './collecting.ts';

const shares = (parts: readonly (readonly [count: number, what: string])[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');

/** Collected of all, and what the others do. */
export const collectWords = (
  { trials }: Trials,
  known: ReadonlyMap<string, TrialLine>,
  found: ReadonlyMap<Trial, Standing>,
): string => {
  const lines = [...known.values()];
  const count = (fits: (line: TrialLine) => boolean): number => lines.filter(fits).length;
  const done = shares([
    [count((one) => one.reward !== null && one.reward >= 1), 'solved'],
    [count((one) => one.reward !== null && one.reward < 1), 'failed'],
    [count((one) => one.reward === null && isFinal(one)), 'without verdict'],
    [count((one) => !isFinal(one)), 'lost'],
  ]);
  const standing = [...found.values()];
  const open = standing.filter((one) => one.is === 'open');
  const rest = shares([
    [open.filter((one) => one.started).length, 'run'],
    [open.filter((one) => !one.started).length, 'wait'],
    [trials.length - lines.length - open.length, 'not submitted'],
  ]);
  const why = open.find((one) => one.cause && !one.started)?.cause?.why;
  return [
    `${lines.length} of ${trials.length} trials collected${done === '' ? '' : ` (${done})`}`,
    rest,
    why ?? '',
  ]
    .filter((one) => one !== '')
    .join('; ');
};

/** What was lost to failures of the place, by reason, and how it is tried again. */
export const lossWords = (known: ReadonlyMap<string, TrialLine>, shown: string): string[] => {
  const lost = [...known.values()].filter((one) => !isFinal(one));
  if (lost.length === 0) return [];
  const reasons = [...Map.groupBy(lost, (one) => one.error ?? '')].toSorted(
    (a, b) => b[1].length - a[1].length,
  );
  return [
    ...reasons.slice(0, 10).map(([why, all]) => `${all.length} lost: ${why}`),
    `${lost.length} ${lost.length === 1 ? 'trial was' : 'trials were'} lost, and not by an agent; 'k8sbench trials apply --run ${shown} --again' tries only them again`,
  ];
};

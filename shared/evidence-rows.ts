/** The evidence's numbers as rows of texts, the head first, for terminals and for pages. Pure; everything is in analysis.json. */
import type { Analysis, Conclusion, Shown } from '../schemas/analysis.ts';
import { pShown } from './p-value.ts';
import { percent } from './percent.ts';
import { sessionNames } from './run-results.ts';
import { shortNames } from './short-names.ts';

/** Which rows, and how a conclusion is called. */
interface Wanted {
  turns: number;
  /** One candidate's alone; absent: all of them, named. */
  candidate?: string;
  /** Metrics that are not primary too. */
  shown: boolean;
  word: (conclusion: Conclusion['conclusion']) => string;
}

const NOTHING = '';

const fixed = (value: number | null): string => (value === null ? NOTHING : value.toFixed(3));

/** With one decimal in every row, so that a column's can be compared. */
const shareOf = (share: number | undefined): string =>
  share === undefined ? NOTHING : `${(100 * share).toFixed(1)} %`;

/** A signed metric's value. */
const inUnit = (value: number, digits: number, unit: string | undefined): string =>
  `${Number(value.toPrecision(digits))}${unit ? ` ${unit}` : ''}`;

const pOf = (p: number | null | undefined): string => (p === null || p === undefined ? NOTHING : pShown(p));

/** An estimate and the ends of its interval: a ratio, or for signed metrics a difference in its unit. */
const estimateOf = ({ ratio, low, high, difference }: Conclusion): [string, string, string] => {
  if (!difference) return [fixed(ratio), fixed(low), fixed(high)];
  const cell = (value: number | null): string =>
    value === null ? NOTHING : inUnit(value, 3, difference.unit);
  return [cell(difference.estimate), cell(difference.low), cell(difference.high)];
};

/** How much a round or a session varies: a share, or for signed metrics in the metric's unit. */
const spreadOf = (sd: number | undefined, { difference }: Conclusion): string =>
  difference && sd !== undefined ? inUnit(sd, 2, difference.unit) : shareOf(sd);

/** The control pair's interval. */
const controlOf = ({ control }: Conclusion): string =>
  control && control.low !== null && control.high !== null
    ? `${fixed(control.low)}–${fixed(control.high)}`
    : NOTHING;

const HEAD: readonly string[] = [
  'conclusion',
  'ratio',
  '95 % from',
  'to',
  'p',
  'least p',
  'margin',
  'rounds',
  'detectable from',
  'round sd',
  'session sd',
  'control',
];

const concludedCells = (one: Conclusion, word: Wanted['word']): string[] => [
  word(one.conclusion),
  ...estimateOf(one),
  pOf(one.p),
  pOf(one.smallestP),
  percent(one.margin),
  String(one.rounds),
  shareOf(one.detectable),
  spreadOf(one.withinSd, one),
  spreadOf(one.betweenSd, one),
  controlOf(one),
];

/** Numbers alone: nothing was asked of them. */
const shownCells = ({ ratio, low, high, rounds }: Shown): string[] => {
  const cells: Partial<Record<string, string>> = {
    conclusion: 'shown',
    ratio: fixed(ratio),
    '95 % from': fixed(low),
    to: fixed(high),
    rounds: String(rounds),
  };
  return HEAD.map((name) => cells[name] ?? NOTHING);
};

/**
 * One row for each conclusion of a size, and for each metric that is only shown: what was concluded, the ratio of candidate
 * and reference with its interval, p and the smallest p there could have been, margin, rounds, the smallest change that would
 * have been found in four of five runs, the spread of one round's ratio and of sessions, the control pair's interval. Columns
 * that no row fills are left out. No rows at all: nothing was concluded.
 */
export const evidenceRows = (analysis: Analysis, { turns, candidate, shown, word }: Wanted): string[][] => {
  const short = shortNames([...sessionNames(analysis).values()]);
  const several = analysis.sessions.length > 1;
  const isAbout = (one: { turns: number; candidate: string }): boolean =>
    one.turns === turns && (candidate === undefined || one.candidate === candidate);
  const named = (one: { metric: string; candidate: string; session?: string | undefined }): string[] => [
    !several || one.session === undefined
      ? one.metric
      : `${one.metric}, ${short.get(one.session) ?? one.session}`,
    ...(candidate === undefined ? [one.candidate] : []),
  ];
  const concluded = analysis.conclusions.filter(isAbout);
  if (concluded.length === 0) return [];
  const rows = [
    [...(candidate === undefined ? ['metric', 'candidate'] : ['metric']), ...HEAD],
    ...concluded.map((one) => [...named(one), ...concludedCells(one, word)]),
    ...(shown ? (analysis.shown ?? []) : [])
      .filter(isAbout)
      .map((one) => [...named(one), ...shownCells(one)]),
  ];
  const kept = rows[0]!.map((_, at) => at).filter((at) => rows.slice(1).some((row) => row[at] !== NOTHING));
  return rows.map((row) => kept.map((at) => row[at]!));
};

/** Histories as series of ratios: one per rule, size, metric and node type, of runs with one purpose (DESIGN §5). Pure. */
import type { NodeType } from '../../schemas/analysis.ts';
import type { HistoryLine } from '../../schemas/tracker.ts';
import { nodeTypeName } from '../../shared/node-type.ts';
import type { Counted } from '../../shared/sizes.ts';
import { referenceKey, trackerKey } from '../../shared/verdict.ts';

export interface Point {
  run: string;
  /** ms since the epoch. */
  at: number;
  /** The candidate's commit, `-dirty` kept; '' when the line names none. */
  commit: string;
  /** ln(candidate / reference). */
  value: number;
}

export interface Series extends Counted {
  rule: string;
  turns: number;
  metric: string;
  nodeType: string;
  points: Point[];
}

/** What a line's own field tells of one run; undefined for lines without: they are rounded, and of no known machine. */
interface Told extends Counted {
  purpose: string | undefined;
  nodeType: string;
  commit: string;
  values: Readonly<Record<string, unknown>>;
  /** The tracker's names of the metrics that conclusions are about. */
  primary: string[];
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const toldBy = (line: HistoryLine): Told | undefined => {
  const { more, core } = line as HistoryLine & { more?: unknown; core?: unknown };
  if (!isObject(more) || !isObject(more['values']) || !isObject(more['nodeType'])) return undefined;
  const identities = isObject(more['identities']) ? more['identities'] : {};
  const identity = identities[textOf(more['candidate'])];
  const conclusions = Array.isArray(more['conclusions']) ? more['conclusions'] : [];
  return {
    purpose: typeof more['purpose'] === 'string' ? more['purpose'] : undefined,
    nodeType: nodeTypeName(more['nodeType'] as NodeType),
    commit: (isObject(identity) && textOf(identity['commit'])) || textOf(core),
    values: more['values'],
    ...(more['counted'] === 'processes' ? { counted: 'processes' } : {}),
    primary: conclusions.flatMap((one: unknown) =>
      isObject(one) && typeof one['metric'] === 'string' ? [trackerKey(one['metric'])] : [],
    ),
  };
};

/** Ratios beyond e to this are no measurement; their steps would be no numbers. */
const FURTHEST = 300;

/** ln of candidate over reference; undefined where either is missing or not above 0. */
const logRatio = (values: Fields, metric: string): number | undefined => {
  const [mine, theirs] = [values[metric], values[referenceKey(metric)]];
  if (typeof mine !== 'number' || typeof theirs !== 'number') return undefined;
  const value = Math.log(mine / theirs);
  return mine > 0 && theirs > 0 && Math.abs(value) <= FURTHEST ? value : undefined;
};

/** A line with what is known of its place in the history. */
export interface Placed {
  line: HistoryLine;
  run: string;
  at: number;
}

export interface Found {
  series: Series[];
  /** Lines without exact values, and lines of other purposes. */
  plain: number;
  others: number;
}

/**
 * The series of lines in the order given. `metrics` are the tracker's names; without them those that conclusions are about
 * (warm where a line has none).
 */
export const seriesOf = (
  lines: readonly Placed[],
  purposes: readonly string[],
  metrics: readonly string[] = [],
): Found => {
  const found = new Map<string, Series>();
  const primary = new Map<string, Set<string>>();
  let [plain, others] = [0, 0];
  const told = lines.flatMap((placed) => {
    const about = toldBy(placed.line);
    if (!about) plain++;
    else if (about.purpose === undefined || !purposes.includes(about.purpose)) others++;
    else
      return [
        { ...placed, about, group: JSON.stringify([placed.line.rule, placed.line.turns, about.nodeType]) },
      ];
    return [];
  });
  for (const { group, about } of told) {
    const known = primary.get(group) ?? new Set<string>();
    primary.set(group, known);
    for (const one of about.primary.length > 0 ? about.primary : ['warm']) known.add(one);
  }
  for (const { line, run, at, about, group } of told)
    for (const metric of metrics.length > 0 ? metrics : primary.get(group)!) {
      const value = logRatio(about.values, metric);
      if (value === undefined) continue;
      const key = `${group} ${metric}`;
      const series = found.get(key) ?? {
        rule: line.rule,
        turns: line.turns,
        ...(about.counted === undefined ? {} : { counted: about.counted }),
        metric,
        nodeType: about.nodeType,
        points: [],
      };
      found.set(key, series);
      series.points.push({ run, at, commit: about.commit, value });
    }
  return { series: [...found.values()], plain, others };
};

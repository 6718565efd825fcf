/** Lines of the history as a table. Pure. Older and foreign lines carry less; what they lack stays empty. */
import * as v from 'valibot';
import { compared, type HistoryLine, type TrackerLine } from '../../schemas/tracker.ts';
import { type Counted, sizeHead } from '../../shared/sizes.ts';
import { type Colour, table } from '../../shared/terminal.ts';
import { referenceKey } from '../../shared/verdict.ts';

const COLOURS: Readonly<Record<string, Colour>> = {
  win: 'green',
  'slightly better': 'green',
  lose: 'red',
  tie: 'grey',
};

/** What a line's size counts; older and foreign lines do not say, and count turns. */
const countedOf = ({ more }: HistoryLine & Partial<TrackerLine>): Counted =>
  more?.counted === 'processes' ? { counted: 'processes' } : {};

const headOf = (lines: readonly (HistoryLine & Partial<TrackerLine>)[]): string[] => [
  'at',
  'rule',
  sizeHead(lines.map(countedOf)),
  'core',
  'warm',
  'ref',
  'verdict',
  'cold',
  'ref',
  'verdict',
  'CPU warm',
  'ref',
  'verdict',
  'delta',
  'run',
];
const NUMBERS = new Set([2, 4, 5, 7, 8, 10, 11]);
const VERDICTS = new Set([6, 9, 12]);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Candidate, reference, verdict; the rolling verdict in parentheses where it differs. */
const metricCells = (line: HistoryLine & Partial<TrackerLine>, name: string): string[] => {
  const [mine, other] = [line.values[name], line.values[referenceKey(name)]].map((value) =>
    typeof value === 'number' ? value.toFixed(1) : '',
  );
  const against = v.safeParse(compared, line.compare?.[name]);
  if (!against.success) return [mine!, other!, ''];
  const { run, rolling } = against.output;
  return [mine!, other!, run === rolling ? run : `${run} (${rolling})`];
};

const rowOf = (line: HistoryLine & Partial<TrackerLine>): string[] => [
  line.at.replace('T', ' ').replace(/(:\d\d)(\.\d+)?Z$/, ''),
  line.rule,
  String(line.turns),
  text(line.core),
  ...metricCells(line, 'warm'),
  ...metricCells(line, 'cold'),
  ...metricCells(line, 'cpuWarm'),
  text(line.delta?.['warm']).replace('n/a', ''),
  line.run,
];

export const historyTable = (
  lines: readonly HistoryLine[],
  paint: (colour: Colour, text: string) => string,
): string => {
  const all = lines as readonly (HistoryLine & Partial<TrackerLine>)[];
  const head = headOf(all);
  const rows = [head, ...all.map(rowOf)];
  // Columns that no line fills (no baseline, no CPU times) say nothing.
  const kept = head.map((_, at) => at).filter((at) => rows.slice(1).some((row) => row[at] !== ''));
  return table(
    rows.map((row) => kept.map((at) => row[at]!)),
    kept.flatMap((column, at) => (NUMBERS.has(column) ? [at] : [])),
    (cell, row, column) =>
      row === 0
        ? paint('grey', cell)
        : VERDICTS.has(kept[column]!)
          ? paint(COLOURS[cell.split(' (')[0]!] ?? 'grey', cell)
          : cell,
  );
};

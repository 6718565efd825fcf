/** Tidy CSV (RFC 4180): a row for each turn, units in the header. Pure. */
import { plainText } from '../../../shared/terminal.ts';
import type { SampleMetric } from '../../../shared/sample-values.ts';
import type { Format } from '../format.ts';
import type { Row } from '../material.ts';

type Cell = string | number | null | undefined;

/** A cell; texts that a spreadsheet would take for a formula are told apart by a quote before them. */
const cellText = (cell: Cell): string => {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = plainText(cell).replace(/^[=+\-@]/, "'$&");
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A column of the sample, repeated on each of its turns. */
interface Column {
  name: string;
  of(row: Row): Cell;
}

/** Metrics that are made of the turns themselves. */
const FROM_TURNS = new Set(['warm', 'cold', 'cpuWarm', 'cpuCold']);

const header = (key: string, unit: string): string =>
  `${key.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}_${unit.replace(/[^A-Za-z0-9]+/g, '_')}`;

/** The turns of a pooled metric, one value for each. */
const isPerTurn = (rows: readonly Row[], { key }: SampleMetric): boolean =>
  rows.some((one) => Array.isArray(one.line[key]));

export const csv: Format = {
  about: 'tidy CSV, a row for each turn, units in the header',
  holds: 'samples',
  text({ analysis, metrics, rows }) {
    const about = new Map(analysis.sessions.map((one) => [one.run, one]));
    const kept = metrics.filter(({ key }) => !FROM_TURNS.has(key));
    const perSample = kept.filter((one) => !isPerTurn(rows, one));
    const perTurn = kept.filter((one) => isPerTurn(rows, one));
    const columns: Column[] = [
      { name: 'run', of: (row) => row.session },
      { name: 'node', of: (row) => about.get(row.session)?.node ?? '' },
      { name: 'profile', of: () => analysis.profile },
      { name: 'judged', of: () => (analysis.judged ? 'yes' : 'no') },
      { name: 'target', of: (row) => row.target },
      { name: 'role', of: (row) => row.role },
      { name: 'turns', of: (row) => row.turns },
      { name: 'round', of: (row) => row.round + 1 },
      { name: 'open_ms', of: (row) => row.line.open },
      { name: 'open_cpu_ms', of: (row) => row.line.openCpu },
      ...perSample.map(({ key, unit }) => ({
        name: header(key, unit),
        of: (row: Row) => row.values.get(key),
      })),
    ];
    const head = [
      ...columns.map((one) => one.name),
      'turn',
      'wall_ms',
      'cpu_ms',
      ...perTurn.map(({ key, unit }) => header(key, unit)),
    ];
    const lines = rows.flatMap((row) => {
      const own = columns.map((one) => cellText(one.of(row)));
      const { turn = [undefined], turnCpu } = row.line;
      return turn.map((wall, at) => {
        const pooled = perTurn.map(({ key }) => (row.line[key] as Cell[] | undefined)?.[at]);
        const cells: Cell[] = [wall === undefined ? undefined : at + 1, wall, turnCpu?.[at], ...pooled];
        return own.concat(cells.map(cellText)).join(',');
      });
    });
    return [head.join(','), ...lines].map((line) => `${line}\r\n`).join('');
  },
};

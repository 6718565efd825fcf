/** A comparison's numbers for a person: a table per size and candidate. Pure; everything is in analysis.json. */
import type { Analysis, Comparison } from '../../schemas/analysis.ts';
import { type Colour, table } from '../../shared/terminal.ts';
import { referenceKey } from '../../shared/verdict.ts';
import { limitText } from './noise.ts';
import { gateWords, noiseLine, type Paint, shortNumber, where } from './words.ts';

const VERDICT_COLOURS: Readonly<Record<string, Colour>> = {
  win: 'green',
  'slightly better': 'green',
  lose: 'red',
  tie: 'grey',
};

/** Rows of the table by the value's name, with p95 and max where they exist. */
const ROWS: readonly { name: string; label: string; unit: string; more?: readonly string[] }[] = [
  { name: 'warm', label: 'warm', unit: 'ms', more: ['warmP95', 'warmMax'] },
  { name: 'cold', label: 'cold', unit: 'ms', more: ['coldP95', 'coldMax'] },
  { name: 'cpuWarm', label: 'CPU warm', unit: 'ms' },
  { name: 'cpuCold', label: 'CPU cold', unit: 'ms' },
  { name: 'retainedMB', label: 'retained', unit: 'MB' },
  { name: 'growthPerTurn', label: 'growth/turn', unit: 'B' },
  { name: 'peakRssMB', label: 'peak RSS', unit: 'MB' },
  { name: 'seedS', label: 'seed', unit: 's' },
];

/** The verdict of the p50, and that of the p95 where it differs. */
const verdictWords = (verdicts: Comparison['verdicts'], name: string, p95: string | undefined): string => {
  const [middle, tail] = [verdicts[name], p95 === undefined ? undefined : verdicts[p95]];
  if (middle === undefined) return '';
  return tail === undefined || tail === middle ? middle : `${middle} (p95 ${tail})`;
};

const comparisonTable = (
  { values: exact, beside, verdicts, candidate, reference }: Comparison,
  metrics: Analysis['metrics'],
  paint: Paint,
): string => {
  const values: Readonly<Record<string, number | undefined>> = { ...exact, ...beside };
  const cell = (name: string | undefined): string => {
    const value = name === undefined ? undefined : values[name];
    return value === undefined ? '' : shortNumber(value);
  };
  const rows = [
    ...ROWS,
    ...metrics.map(({ key, unit }) => ({ name: key, label: key, unit, more: [] })),
  ].filter(({ name }) => values[name] !== undefined || values[referenceKey(name)] !== undefined);
  const head = [
    '',
    '',
    `${candidate} p50`,
    'p95',
    'max',
    `${reference} p50`,
    'p95',
    'max',
    'ratio',
    'verdict',
  ];
  const body = rows.map(({ name, label, unit, more = [] }) => {
    const [mine, other] = [values[name], values[referenceKey(name)]];
    const names = [name, more[0], more[1]];
    const comparable = mine !== undefined && other !== undefined && mine > 0 && other > 0;
    return [label, unit].concat(
      names.map(cell),
      names.map((one) => cell(one && referenceKey(one))),
      comparable ? (mine / other).toFixed(3) : '',
      verdictWords(verdicts, name, more[0]),
    );
  });
  return table([head, ...body], [2, 3, 4, 5, 6, 7, 8], (text, row, column) =>
    row === 0
      ? paint('grey', text)
      : column === 9
        ? paint(VERDICT_COLOURS[text.split(' (')[0]!] ?? 'grey', text)
        : text,
  );
};

export const comparisonText = (analysis: Analysis, paint: Paint): string => {
  const { comparisons, noise, maxCv, gate } = analysis;
  const blocks = comparisons.map((one) => {
    const title = `${one.rule} at ${one.turns} turns: '${one.candidate}' against '${one.reference}', ${one.samples} samples each`;
    const net = one.floor === undefined ? '' : `, net of '${one.floor}'`;
    const cvs = noiseLine(noise[String(one.turns)], maxCv);
    return (
      `${paint('bold', title + net)}\n${comparisonTable(one, analysis.metrics, paint)}` +
      (cvs === ''
        ? ''
        : paint('grey', `CV of '${one.reference}': ${cvs} (limit ${limitText(maxCv)}, ${gateWords(gate)})`) +
          '\n')
    );
  });
  return [`${where(analysis)}\n`, ...blocks].join('\n');
};

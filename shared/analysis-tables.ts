/** An analysis's numbers as rows of texts, the head first, for terminals and for pages. Pure; everything is in analysis.json. */
import type { Analysis, Comparison } from '../schemas/analysis.ts';
import type { CalibrationNode, CalibrationSize } from '../schemas/calibration.ts';
import { cvText, noiseLine, shortNumber } from './analysis-words.ts';
import type { Counted } from './sizes.ts';
import { referenceKey } from './verdict.ts';

interface Row {
  name: string;
  label: string;
  unit: string;
  more?: readonly string[];
}

/** Rows by the value's name, with p95 and max where they exist. */
const ROWS: readonly Row[] = [
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

/** The values that a comparison's table has rows of. */
const rowsOf = ({ values }: Comparison, metrics: Analysis['metrics']): Row[] =>
  [...ROWS, ...metrics.map(({ key, unit }) => ({ name: key, label: key, unit }))].filter(
    ({ name }) => values[name] !== undefined || values[referenceKey(name)] !== undefined,
  );

/** The tracker's name of each row's value, in the order of the rows below the head. */
export const comparisonNames = (comparison: Comparison, metrics: Analysis['metrics']): string[] =>
  rowsOf(comparison, metrics).map(({ name }) => name);

/** Values that the floor is taken from. */
const NET: ReadonlySet<string> = new Set(['warm', 'cold']);

/** Net of the floor nothing is left but the floor's own noise: the evidence found no ratio, and the tracker's verdict says nothing. */
const isBelowFloor = (
  { floor, candidate, turns }: Comparison,
  name: string,
  { judged, conclusions, shown }: Evidence,
): boolean =>
  judged &&
  floor !== undefined &&
  NET.has(name) &&
  shown !== undefined &&
  ![...conclusions, ...shown].some(
    (one) => one.candidate === candidate && one.turns === turns && one.metric === name && one.ratio !== null,
  );

/** What the evidence of a comparison says, beside its numbers. */
type Evidence = Pick<Analysis, 'metrics' | 'judged' | 'conclusions' | 'shown'>;

/** One candidate at one size: metric, unit, p50, p95 and max of both, ratio, verdict. Targets' names are foreign text. */
export const comparisonRows = (comparison: Comparison, evidence: Evidence): string[][] => {
  const { values: exact, beside, verdicts, candidate, reference } = comparison;
  const values: Readonly<Record<string, number | undefined>> = { ...exact, ...beside };
  const cell = (name: string | undefined): string => {
    const value = name === undefined ? undefined : values[name];
    return value === undefined ? '' : shortNumber(value);
  };
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
  const body = rowsOf(comparison, evidence.metrics).map(({ name, label, unit, more = [] }) => {
    const [mine, other] = [values[name], values[referenceKey(name)]];
    const names = [name, more[0], more[1]];
    const comparable = mine !== undefined && other !== undefined && mine > 0 && other > 0;
    return [label, unit].concat(
      names.map(cell),
      names.map((one) => cell(one && referenceKey(one))),
      ...(isBelowFloor(comparison, name, evidence)
        ? ['', 'below floor']
        : [comparable ? (mine / other).toFixed(3) : '', verdictWords(verdicts, name, more[0])]),
    );
  });
  return [head, ...body];
};

/** The reference's noise at one size: metric, samples, mean, sd, CV, and whether it passes the gate. */
export const noiseRows = (
  turns: string,
  { noise }: CalibrationSize,
  maxCv: number,
  { counted }: Counted,
): string[][] => [
  [counted ?? 'turns', 'metric', 'n', 'mean', 'sd', 'CV', 'gate'],
  ...Object.entries(noise).map(([metric, one]) => [
    turns,
    metric,
    String(one.n),
    shortNumber(one.mean),
    shortNumber(one.sd),
    one.cv === null ? '' : cvText(Math.abs(one.cv), maxCv),
    one.gate ? (one.cv !== null && Math.abs(one.cv) <= maxCv ? 'pass' : 'over') : '',
  ]),
];

const nodeRow = (name: string, node: CalibrationNode, maxCv: number): string[] => [
  name,
  String(node.runs),
  noiseLine(node.noise, maxCv),
  node.warmDrift === null ? '' : node.warmDrift.toFixed(3),
  node.throttle.throttledSamples === null ? '' : String(node.throttle.throttledSamples),
  node.clock.mhz === null ? '' : node.clock.mhz.toFixed(0),
  node.pass ? 'quiet' : 'unfit',
];

/** The nodes of one size, each with its own noise and whether it is quiet enough. Nodes' names are foreign text. */
export const nodeRows = ({ nodes }: CalibrationSize, maxCv: number): string[][] => [
  ['node', 'runs', 'gated CVs', 'warm drift', 'throttled', 'MHz', 'state'],
  ...Object.entries(nodes).map(([name, node]) => nodeRow(name, node, maxCv)),
];

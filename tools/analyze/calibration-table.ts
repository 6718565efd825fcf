/** A calibration's numbers for a person: per size its metrics, and its nodes. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration, CalibrationNode } from '../../schemas/calibration.ts';
import { type Colour, table } from '../../shared/terminal.ts';
import { cvText, limitText } from './noise.ts';
import { gateWords, noiseLine, type Paint, shortNumber, where } from './words.ts';

const nodeRow = (name: string, node: CalibrationNode, maxCv: number): string[] => [
  name,
  String(node.runs),
  noiseLine(node.noise, maxCv),
  node.warmDrift === null ? '' : node.warmDrift.toFixed(3),
  node.throttle.throttledSamples === null ? '' : String(node.throttle.throttledSamples),
  node.clock.mhz === null ? '' : node.clock.mhz.toFixed(0),
  node.pass ? 'quiet' : 'unfit',
];

const COLOURS: Readonly<Record<string, Colour>> = {
  over: 'red',
  unfit: 'red',
  pass: 'green',
  quiet: 'green',
};

export const calibrationText = (analysis: Analysis, calibration: Calibration, paint: Paint): string => {
  const { maxCv, sizes } = calibration;
  const painted = (text: string, row: number, column: number): string => {
    if (row === 0) return paint('grey', text);
    const colour = column === 6 ? COLOURS[text.trim()] : undefined;
    return colour ? paint(colour, text) : text;
  };
  const blocks = Object.entries(sizes).map(([turns, size]) => {
    const metrics = Object.entries(size.noise).map(([metric, one]) => [
      turns,
      metric,
      String(one.n),
      shortNumber(one.mean),
      shortNumber(one.sd),
      one.cv === null ? '' : cvText(Math.abs(one.cv), maxCv),
      one.gate ? (one.cv !== null && Math.abs(one.cv) <= maxCv ? 'pass' : 'over') : '',
    ]);
    const nodes = Object.entries(size.nodes).map(([name, node]) => nodeRow(name, node, maxCv));
    return (
      table([['turns', 'metric', 'n', 'mean', 'sd', 'CV', 'gate'], ...metrics], [0, 2, 3, 4, 5], painted) +
      '\n' +
      table(
        [['node', 'runs', 'gated CVs', 'warm drift', 'throttled', 'MHz', ''], ...nodes],
        [1, 3, 4, 5],
        painted,
      )
    );
  });
  return [
    `${where(analysis)}\n`,
    ...blocks,
    `limit ${limitText(maxCv)}, ${gateWords(calibration.gate)}\n`,
  ].join('\n');
};

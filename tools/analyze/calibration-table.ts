/** A calibration's numbers for a person: per size its metrics, and its nodes. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { noiseRows, nodeRows } from '../../shared/analysis-tables.ts';
import { gateWords, limitText, where } from '../../shared/analysis-words.ts';
import { type Colour, type Paint, table } from '../../shared/terminal.ts';
import { type Strips, withStrips } from './strips.ts';

const COLOURS: Readonly<Record<string, Colour>> = {
  over: 'red',
  unfit: 'red',
  pass: 'green',
  quiet: 'green',
};

export const calibrationText = (
  analysis: Analysis,
  calibration: Calibration,
  paint: Paint,
  strips?: Strips,
): string => {
  const { maxCv, sizes } = calibration;
  const painted = (text: string, row: number, column: number): string => {
    if (row === 0) return paint('grey', text);
    const colour = column === 6 ? COLOURS[text.trim()] : undefined;
    return colour ? paint(colour, text) : text;
  };
  const blocks = Object.entries(sizes).map(([turns, size]) => {
    const noise = withStrips(noiseRows(turns, size, maxCv, analysis), strips, {
      turns: Number(turns),
      targets: strips?.targets.slice(0, 1) ?? [],
      metrics: Object.keys(size.noise),
    });
    return `${table(noise, [0, 2, 3, 4, 5], painted)}\n${table(nodeRows(size, maxCv), [1, 3, 4, 5], painted)}`;
  });
  return [
    `${where(analysis)}\n`,
    ...blocks,
    `limit ${limitText(maxCv)}, ${gateWords(calibration.gate)}\n`,
  ].join('\n');
};

/** An analysis as blocks of Markdown, for CI systems' summaries and pull requests. Pure; everything is in analysis.json. */
import type { Analysis } from '../schemas/analysis.ts';
import type { Calibration } from '../schemas/calibration.ts';
import { comparisonRows, noiseRows, nodeRows } from './analysis-tables.ts';
import { doubtLines } from './grouped-doubts.ts';
import { gateWords, limitText, noiseLine } from './analysis-words.ts';
import { atItsSize, type Counted, sizeText } from './sizes.ts';
import { code, marked, markdownList, markdownTable } from './markdown.ts';

/** A titled list; nothing where there is nothing to say. */
export const section = (title: string, texts: readonly string[]): string[] =>
  texts.length > 0 ? [`**${title}**\n\n${markdownList(texts)}`] : [];

/** A table for each size and candidate, with the reference's noise. */
export const comparisons = (analysis: Analysis): string[] => {
  const { comparisons: all, noise, maxCv, gate } = analysis;
  return all.map((one) => {
    const cvs = noiseLine(noise[String(one.turns)], maxCv);
    const net = one.floor === undefined ? '' : `, net of ${code(one.floor)}`;
    return (
      `### ${code(one.rule)}${atItsSize(one.turns, analysis)}\n\n` +
      `${code(one.candidate)} against ${code(one.reference)}, ${one.samples} samples each${net}\n\n` +
      markdownTable(comparisonRows(one, analysis), [2, 3, 4, 5, 6, 7, 8]) +
      (cvs === ''
        ? ''
        : `\nCV of ${code(one.reference)}: ${marked(cvs)} (limit ${limitText(maxCv)}, ${gateWords(gate)})\n`)
    );
  });
};

/** The reference's noise and the nodes, for each size. */
export const calibrated = ({ sizes, maxCv, gate }: Calibration, counted: Counted): string[] =>
  Object.entries(sizes).map(
    ([turns, size]) =>
      `### ${sizeText(Number(turns), counted)}\n\n${markdownTable(noiseRows(turns, size, maxCv, counted), [0, 2, 3, 4, 5])}\n` +
      `${markdownTable(nodeRows(size, maxCv), [1, 3, 4, 5])}\nlimit ${limitText(maxCv)}, ${gateWords(gate)}\n`,
  );

/** Why it was not judged and what to do; conclusions, doubts, earlier attempts. */
export const judgement = (analysis: Analysis): string[] => {
  const { reasons, advice, conclusions, earlierAttempts: before } = analysis;
  return [
    ...section('Why', reasons),
    ...section('What to do', advice),
    ...section(
      'Conclusions',
      conclusions.map((one) => one.sentence),
    ),
    ...section('Doubts', doubtLines(analysis)),
    ...(before && before.refused + before.void > 0
      ? [
          `${before.total} earlier ${before.total === 1 ? 'attempt' : 'attempts'} at the same commit: ${before.refused} refused, ${before.void} void\n`,
        ]
      : []),
  ];
};

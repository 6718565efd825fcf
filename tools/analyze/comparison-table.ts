/** A comparison's numbers for a person: a table per size and candidate. Pure; everything is in analysis.json. */
import type { Analysis, Comparison, Conclusion } from '../../schemas/analysis.ts';
import { comparisonNames, comparisonRows } from '../../shared/analysis-tables.ts';
import { gateWords, limitText, noiseLine, where } from '../../shared/analysis-words.ts';
import { evidenceRows } from '../../shared/evidence-rows.ts';
import { atSize } from '../../shared/sizes.ts';
import { type Colour, type Paint, plainText, table } from '../../shared/terminal.ts';
import { metricNamed, type Strips, withStrips } from './strips.ts';

const VERDICT_COLOURS: Readonly<Record<string, Colour>> = {
  win: 'green',
  'slightly better': 'green',
  lose: 'red',
  tie: 'grey',
};

const WORDS: Readonly<Record<Conclusion['conclusion'], string>> = {
  faster: 'faster',
  slower: 'slower',
  same: 'same',
  'cant-tell': "can't tell",
};

const comparisonTable = (
  comparison: Comparison,
  analysis: Analysis,
  paint: Paint,
  strips: Strips | undefined,
): string => {
  const { turns, candidate, reference } = comparison;
  const rows = withStrips(comparisonRows(comparison, analysis), strips, {
    turns,
    targets: [candidate, reference],
    metrics: comparisonNames(comparison, analysis.metrics).map(metricNamed),
  });
  return table(rows, [2, 3, 4, 5, 6, 7, 8], (text, row, column) =>
    row === 0
      ? paint('grey', text)
      : column === 9
        ? paint(VERDICT_COLOURS[text.split(' (')[0]!] ?? 'grey', text)
        : text,
  );
};

/** What the evidence says of one candidate at one size, in numbers; the words stand above. */
const evidenceTable = (comparison: Comparison, analysis: Analysis, paint: Paint): string => {
  const { turns, candidate } = comparison;
  const rows = evidenceRows(analysis, {
    turns,
    candidate,
    shown: analysis.sessions.length === 1,
    word: (one) => WORDS[one],
  });
  if (rows.length === 0) return '';
  const numbers = rows[0]!.flatMap((name, at) => (['metric', 'conclusion'].includes(name) ? [] : [at]));
  return `\n${table(rows, numbers, (text, row) => (row === 0 ? paint('grey', text) : text))}`;
};

export const comparisonText = (analysis: Analysis, paint: Paint, strips?: Strips): string => {
  const { comparisons, noise, maxCv, gate } = analysis;
  const blocks = comparisons.map((one) => {
    const title = `${one.rule} ${atSize(one.turns, analysis)}: '${one.candidate}' against '${one.reference}', ${one.samples} samples each`;
    const net = one.floor === undefined ? '' : `, net of '${one.floor}'`;
    const cvs = noiseLine(noise[String(one.turns)], maxCv);
    return (
      `${paint('bold', plainText(title + net))}\n${comparisonTable(one, analysis, paint, strips)}` +
      (cvs === ''
        ? ''
        : paint(
            'grey',
            plainText(`CV of '${one.reference}': ${cvs} (limit ${limitText(maxCv)}, ${gateWords(gate)})`),
          ) + '\n') +
      evidenceTable(one, analysis, paint)
    );
  });
  return [`${where(analysis)}\n`, ...blocks].join('\n');
};

/** A comment for a pull request: what is concluded first, the numbers folded away. Pure. */
import type { Conclusion } from '../../../schemas/analysis.ts';
import { calibrated, comparisons, judgement, section } from '../../../shared/analysis-markdown.ts';
import { where } from '../../../shared/analysis-words.ts';
import { EXIT } from '../../../shared/exit.ts';
import { code, marked } from '../../../shared/markdown.ts';
import type { Format } from '../format.ts';
import type { Material } from '../material.ts';
import { markdownOfTrials } from './markdown-trials.ts';

const SIGNS: Readonly<Record<Conclusion['conclusion'], string>> = {
  faster: '▲ faster',
  slower: '▼ slower',
  same: '= same',
  'cant-tell': "? can't tell",
};

/** How it ended, in the heading's words. */
const outcome = ({ analysis }: Material): string => {
  const { exit, judged, mode, conclusions, origin } = analysis;
  if (exit === EXIT.invalid) return 'invalid';
  if (mode === 'calibrate')
    return exit === EXIT.done
      ? judged
        ? 'calibrated, within the limit'
        : 'calibrated, not judged'
      : 'calibrated, over the limit';
  if (!judged && origin === undefined) return 'not judged';
  const words = [...new Set(conclusions.map((one) => SIGNS[one.conclusion]))];
  return words.join(', ') || 'judged';
};

const folded = (title: string, blocks: readonly string[]): string[] =>
  blocks.length === 0 ? [] : [`<details><summary>${title}</summary>\n\n${blocks.join('\n')}\n</details>\n`];

export const markdown: Format = {
  about: 'Markdown for a pull request: conclusions first, tables folded away',
  holds: 'outcome',
  trials: markdownOfTrials,
  text(material) {
    const { analysis, calibration } = material;
    const disagreements = analysis.conclusions.flatMap((one) =>
      one.disagreement === undefined ? [] : [one.disagreement],
    );
    const blocks = [
      `## k8sbench ${code(analysis.profile)}: ${marked(outcome(material))}\n`,
      ...judgement(analysis),
      ...section('Where the tracker differs', disagreements),
      ...folded('Values', calibration ? calibrated(calibration, analysis) : comparisons(analysis)),
      `${marked(where(analysis))}. Run ${code(analysis.run)}\n`,
    ];
    return blocks.join('\n');
  },
};

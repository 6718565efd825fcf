/** A comment about trials: what was solved first, the grid folded away. Pure. */
import type { TrialsScore } from '../../../schemas/trials-score.ts';
import { code, marked, markdownList, markdownTable } from '../../../shared/markdown.ts';
import {
  armRows,
  differenceRows,
  effortRows,
  gridRows,
  reasonRows,
  scoreWords,
  triesRows,
} from '../../../shared/trials-tables.ts';

/** GitHub cuts a comment at 65,536 characters. */
const MOST_TASKS = 300;

const table = (rows: readonly (readonly string[])[], names = 1): string =>
  markdownTable(
    rows,
    Array.from({ length: (rows[0]?.length ?? 0) - names }, (_, at) => at + names),
  );

const folded = (title: string, block: string): string =>
  `<details><summary>${title}</summary>\n\n${block}\n</details>\n`;

export const markdownOfTrials = (score: TrialsScore): string => {
  const reasons = reasonRows(score);
  const grid = gridRows(score);
  const left = grid.length - 1 - MOST_TASKS;
  return [
    `## k8sbench trials: ${marked(scoreWords(score))}\n`,
    ...(score.differences.length > 0 ? [markdownList(score.differences.map((one) => one.sentence))] : []),
    table(armRows(score)),
    ...(score.doubts.length > 0
      ? [`**Doubts**\n\n${markdownList(score.doubts.map((one) => one.sentence))}`]
      : []),
    ...(reasons.length > 0
      ? [folded('Without verdict', markdownTable([['arm', 'trials', 'why'], ...reasons], [1]))]
      : []),
    ...(triesRows(score)[0]!.length > 2 ? [folded('Several tries', table(triesRows(score)))] : []),
    ...(score.differences.length > 0 ? [folded('Differences', table(differenceRows(score), 2))] : []),
    folded('Tokens and times', table(effortRows(score))),
    folded(
      'Tasks',
      markdownTable(grid.slice(0, MOST_TASKS + 1), []) +
        (left > 0 ? `\n${left} more tasks\n` : '') +
        '\n`+` solved, `-` failed, `?` no verdict',
    ),
    ...(score.run === undefined ? [] : [`Run ${code(score.run)}\n`]),
  ].join('\n');
};

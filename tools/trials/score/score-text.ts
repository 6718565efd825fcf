/** A score for a person: tables and sentences. Pure; everything is in trials-score.json. */
import type { TrialsScore } from '../../../schemas/trials-score.ts';
import { type Paint, plainText, table } from '../../../shared/terminal.ts';
import {
  armRows,
  differenceRows,
  effortRows,
  gridRows,
  reasonRows,
  scoreWords,
  triesRows,
} from '../../../shared/trials-tables.ts';

/** Columns of numbers: all but the names at the left. */
const rightOf = (rows: readonly (readonly string[])[], names = 1): number[] =>
  Array.from({ length: (rows[0]?.length ?? 0) - names }, (_, at) => at + names);

/** More lines than that are no longer looked at; the file and the page have all of them. */
const MOST_TASKS = 100;

const shortGrid = (rows: readonly string[][], paint: Paint): string => {
  const shown = table(rows.slice(0, MOST_TASKS + 1), [], (cell, row, column) =>
    row === 0 ? paint('grey', cell) : column === 0 ? cell : paintedSigns(cell, paint),
  );
  const left = rows.length - 1 - MOST_TASKS;
  return left > 0 ? `${shown}${paint('grey', `${left} more tasks`)}\n` : shown;
};

const paintedSigns = (cell: string, paint: Paint): string =>
  cell
    .split('')
    .map((one) =>
      one === '+'
        ? paint('green', one)
        : one === '-'
          ? paint('red', one)
          : one === '?'
            ? paint('yellow', one)
            : one,
    )
    .join('');

export const scoreText = (score: TrialsScore, paint: Paint): string => {
  const head = (cell: string, row: number): string => (row === 0 ? paint('grey', cell) : cell);
  const numbers = (rows: string[][], names = 1): string => table(rows, rightOf(rows, names), head);
  const reasons = reasonRows(score);
  const blocks = [
    `${paint('bold', scoreWords(score))}\n`,
    numbers(armRows(score)),
    ...(triesRows(score)[0]!.length > 2 ? [numbers(triesRows(score))] : []),
    numbers(effortRows(score)),
    ...(score.differences.length > 0 ? [numbers(differenceRows(score), 2)] : []),
    shortGrid(gridRows(score), paint) + paint('grey', '+ solved, - failed, ? no verdict\n'),
    ...(reasons.length > 0
      ? [table([['arm', 'trials', 'without verdict, because'], ...reasons], [1], head)]
      : []),
    ...(score.doubts.length > 0
      ? [score.doubts.map((one) => `${paint('yellow', 'doubt')}: ${plainText(one.sentence)}\n`).join('')]
      : []),
  ];
  return blocks.join('\n');
};

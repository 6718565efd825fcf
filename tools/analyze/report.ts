/** Everything that a person reads on stderr about an analysis. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { EXIT } from '../../shared/exit.ts';
import { plainText } from '../../shared/terminal.ts';
import { calibrationText } from './calibration-table.ts';
import { comparisonText } from './comparison-table.ts';
import type { Paint } from './words.ts';

/** Judged or not, why, what to do next, and what to keep in mind. */
const judgementText = (analysis: Analysis, paint: Paint): string => {
  const { judged, exit, mode, reasons, advice, doubts, earlierAttempts, sessions } = analysis;
  const lines: string[] = [];
  const heading =
    exit === EXIT.invalid
      ? paint('red', 'invalid: this run must not be judged')
      : judged && exit === EXIT.done
        ? paint('green', mode === 'compare' ? 'judged' : 'calibrated: within the limit')
        : judged
          ? paint('red', 'calibrated: over the limit')
          : paint(mode === 'compare' ? 'red' : 'yellow', 'not judged');
  lines.push(heading);
  // Reasons quote logs: whatever a workload wrote there must not move the cursor.
  for (const one of reasons) lines.push(`  ${plainText(one)}`);
  for (const one of advice) lines.push(`  what to do: ${one}`);
  for (const one of doubts) lines.push(paint('yellow', plainText(`doubt '${one.name}': ${one.sentence}`)));
  const foreign = sessions.reduce((sum, one) => sum + one.foreignLines, 0);
  if (foreign > 0)
    lines.push(paint('grey', `${foreign} foreign ${foreign === 1 ? 'line' : 'lines'} in the log skipped`));
  if (earlierAttempts && earlierAttempts.refused + earlierAttempts.void > 0)
    lines.push(
      paint(
        'yellow',
        `${earlierAttempts.total} earlier runs of the same commit: ${earlierAttempts.refused} refused, ${earlierAttempts.void} void`,
      ),
    );
  return lines.map((one) => `${one}\n`).join('');
};

/** Tables, then the judgement: the last lines are what a tired reader looks for. */
export const reportText = (
  analysis: Analysis,
  calibration: Calibration | undefined,
  paint: Paint,
): string => {
  const tables = calibration
    ? calibrationText(analysis, calibration, paint)
    : comparisonText(analysis, paint);
  return `${tables}\n${judgementText(analysis, paint)}`;
};

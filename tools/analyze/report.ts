/** Everything that a person reads on stderr about an analysis. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { EXIT } from '../../shared/exit.ts';
import { doubtLines } from '../../shared/grouped-doubts.ts';
import { type Paint, plainText } from '../../shared/terminal.ts';
import { calibrationText } from './calibration-table.ts';
import { comparisonText } from './comparison-table.ts';
import { conclusionsText } from './conclusions-text.ts';
import { badOf } from './fail-on.ts';
import type { Strips } from './strips.ts';

/** Which conclusions `--fail-on` is about. */
const badText = ({ settings, conclusions }: Analysis): string => {
  const bad = badOf(conclusions, settings.failOn).length;
  return `--fail-on ${settings.failOn?.join()} is about ${bad} of ${conclusions.length} ${conclusions.length === 1 ? 'conclusion' : 'conclusions'}`;
};

/** How it ended, in a word or a few. */
const heading = (analysis: Analysis, paint: Paint): string => {
  const { judged, exit, mode } = analysis;
  if (exit === EXIT.invalid) return paint('red', 'invalid: this run must not be judged');
  if (mode === 'calibrate' && exit === EXIT.notJudged) return paint('red', 'calibrated: over the limit');
  if (!judged) return paint(mode === 'compare' ? 'red' : 'yellow', 'not judged');
  if (exit === EXIT.judgedBad) return paint('red', `judged, and bad: ${badText(analysis)}`);
  return paint('green', mode === 'compare' ? 'judged' : 'calibrated: within the limit');
};

/** Judged or not, why, what to do next, and what to keep in mind. */
const judgementText = (analysis: Analysis, paint: Paint): string => {
  const { reasons, advice, doubts, earlierAttempts, sessions } = analysis;
  const lines = [heading(analysis, paint)];
  // Reasons quote logs: whatever a workload wrote there must not move the cursor.
  for (const one of reasons) lines.push(`  ${plainText(one)}`);
  for (const one of advice) lines.push(`  what to do: ${one}`);
  for (const one of doubtLines(analysis, (name) => `doubt '${name}'`))
    lines.push(paint('yellow', plainText(one)));
  for (const one of sessions.filter((session) => session.stopped !== undefined))
    lines.push(plainText(`'${one.run}' stopped early, as planned: ${one.stopped}`));
  const foreign = sessions.reduce((sum, one) => sum + one.foreignLines, 0);
  if (foreign > 0)
    lines.push(paint('grey', `${foreign} foreign ${foreign === 1 ? 'line' : 'lines'} in the log skipped`));
  // Of a comparison it is a doubt, told above.
  const told = doubts.some((one) => one.name === 'attempts');
  if (!told && earlierAttempts && earlierAttempts.refused + earlierAttempts.void > 0)
    lines.push(
      paint(
        'yellow',
        `${earlierAttempts.total} earlier ${earlierAttempts.total === 1 ? 'attempt' : 'attempts'} at the same commit: ${earlierAttempts.refused} refused, ${earlierAttempts.void} void`,
      ),
    );
  return lines.map((one) => `${one}\n`).join('');
};

/** What may be concluded, the tables, then the judgement: the first and the last lines are what a tired reader looks for. */
export const reportText = (
  analysis: Analysis,
  calibration: Calibration | undefined,
  paint: Paint,
  strips?: Strips,
): string => {
  const tables = calibration
    ? calibrationText(analysis, calibration, paint, strips)
    : comparisonText(analysis, paint, strips);
  const conclusions = conclusionsText(analysis, paint);
  return `${conclusions}${conclusions === '' ? '' : '\n'}${tables}\n${judgementText(analysis, paint)}`;
};

/** trials.jsonl: reading its lines. */
import { type TrialLine, trialLine } from '../../schemas/trial-line.ts';
import { failed } from '../../shared/failure.ts';
import { parseJson, problemsOf } from '../../shared/read.ts';

/** A wrong file has a problem in every line. */
const TOLD = 20;

/** The lines of a text, checked; every problem names its line. */
export const linesOf = (text: string, place: string): TrialLine[] => {
  const problems: string[] = [];
  const lines: TrialLine[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const name = `${place}:${at + 1}`;
    const value = parseJson(line, name);
    const found = problemsOf(trialLine, { value }, name);
    if (found.length > 0) problems.push(...found);
    else lines.push(value as TrialLine);
    if (problems.length >= TOLD) break;
  }
  if (problems.length > 0) throw failed(problems.slice(0, TOLD));
  return lines;
};

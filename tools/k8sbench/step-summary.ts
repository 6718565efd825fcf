/** How an attempt of a pipeline ended, as a page of Markdown for a CI system's step summary. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { calibrated, comparisons, judgement, section } from '../../shared/analysis-markdown.ts';
import { where } from '../../shared/analysis-words.ts';
import { EXIT, EXIT_ABOUT, type Exit } from '../../shared/exit.ts';
import { code, marked } from '../../shared/markdown.ts';

/** One attempt that has ended. */
export interface Ended {
  pipeline: string;
  exit: Exit;
  /** The attempt's number, from 1, and how many there are at most. */
  attempt: number;
  attempts: number;
  /** The run directory, when one was named, and the machine it is on. */
  run?: string;
  host: string;
  /** What was judged, when it came to that. */
  analysis?: Analysis;
  calibration?: Calibration;
  /** Errors that the tools told, in their order. */
  problems: readonly string[];
}

const outcome = ({ exit, analysis }: Ended): string => {
  if (exit === EXIT.done) return analysis && !analysis.judged ? 'not judged' : 'judged';
  if (exit === EXIT.notJudged)
    return analysis?.mode === 'calibrate' ? 'unfit or over the limit' : 'not judged';
  return EXIT_ABOUT[exit].split(':')[0]!.split(';')[0]!;
};

/** The page. Blocks are apart by an empty line, and it ends with one, so that what comes after it stands for itself. */
export const stepSummary = (ended: Ended): string => {
  const { pipeline, exit, attempt, attempts, run, host, analysis, calibration, problems } = ended;
  const counts = attempt > 1 || (attempts > 1 && exit === EXIT.notJudged);
  const which = counts ? ` (attempt ${attempt} of ${attempts})` : '';
  const blocks = [
    `## k8sbench ${pipeline}: ${outcome(ended)}${which}\n`,
    ...(analysis ? [`${marked(where(analysis))}\n`] : []),
    ...(calibration ? calibrated(calibration, analysis ?? {}) : analysis ? comparisons(analysis) : []),
    ...(analysis ? judgement(analysis) : []),
    ...section('What went wrong', problems),
    ...(run === undefined ? [] : [`Run directory: ${code(run)} on ${code(host)}\n`]),
  ];
  return blocks.map((one) => `${one}\n`).join('');
};

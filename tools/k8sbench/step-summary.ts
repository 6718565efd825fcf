/** How an attempt of a pipeline ended, as a page of Markdown for a CI system's step summary. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { comparisonRows, noiseRows, nodeRows } from '../../shared/analysis-tables.ts';
import { gateWords, limitText, noiseLine, where } from '../../shared/analysis-words.ts';
import { EXIT, EXIT_ABOUT, type Exit } from '../../shared/exit.ts';
import { code, marked, markdownList, markdownTable } from './markdown.ts';

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

const section = (title: string, texts: readonly string[]): string[] =>
  texts.length > 0 ? [`**${title}**\n\n${markdownList(texts)}`] : [];

const comparisons = ({ comparisons: all, metrics, noise, maxCv, gate }: Analysis): string[] =>
  all.map((one) => {
    const cvs = noiseLine(noise[String(one.turns)], maxCv);
    const net = one.floor === undefined ? '' : `, net of ${code(one.floor)}`;
    return (
      `### ${code(one.rule)} at ${one.turns} turns\n\n` +
      `${code(one.candidate)} against ${code(one.reference)}, ${one.samples} samples each${net}\n\n` +
      markdownTable(comparisonRows(one, metrics), [2, 3, 4, 5, 6, 7, 8]) +
      (cvs === ''
        ? ''
        : `\nCV of ${code(one.reference)}: ${marked(cvs)} (limit ${limitText(maxCv)}, ${gateWords(gate)})\n`)
    );
  });

const calibrated = ({ sizes, maxCv, gate }: Calibration): string[] =>
  Object.entries(sizes).map(
    ([turns, size]) =>
      `### ${turns} turns\n\n${markdownTable(noiseRows(turns, size, maxCv), [0, 2, 3, 4, 5])}\n` +
      `${markdownTable(nodeRows(size, maxCv), [1, 3, 4, 5])}\nlimit ${limitText(maxCv)}, ${gateWords(gate)}\n`,
  );

const judgement = ({ reasons, advice, conclusions, doubts, earlierAttempts: before }: Analysis): string[] => [
  ...section('Why', reasons),
  ...section('What to do', advice),
  ...section(
    'Conclusions',
    conclusions.map((one) => one.sentence),
  ),
  ...section(
    'Doubts',
    doubts.map((one) => `${one.name}: ${one.sentence}`),
  ),
  ...(before && before.refused + before.void > 0
    ? [`${before.total} earlier runs of the same commit: ${before.refused} refused, ${before.void} void\n`]
    : []),
];

/** The page. Blocks are apart by an empty line, and it ends with one, so that what comes after it stands for itself. */
export const stepSummary = (ended: Ended): string => {
  const { pipeline, exit, attempt, attempts, run, host, analysis, calibration, problems } = ended;
  const counts = attempt > 1 || (attempts > 1 && exit === EXIT.notJudged);
  const which = counts ? ` (attempt ${attempt} of ${attempts})` : '';
  const blocks = [
    `## k8sbench ${pipeline}: ${outcome(ended)}${which}\n`,
    ...(analysis ? [`${marked(where(analysis))}\n`] : []),
    ...(calibration ? calibrated(calibration) : analysis ? comparisons(analysis) : []),
    ...(analysis ? judgement(analysis) : []),
    ...section('What went wrong', problems),
    ...(run === undefined ? [] : [`Run directory: ${code(run)} on ${code(host)}\n`]),
  ];
  return blocks.map((one) => `${one}\n`).join('');
};

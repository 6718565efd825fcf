/** The formats, one module each. A new one is a module and a row. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { TrialsScore } from '../../schemas/trials-score.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import type { Format } from './format.ts';
import { bencher } from './formats/bencher.ts';
import { benchfmt } from './formats/benchfmt.ts';
import { csv } from './formats/csv.ts';
import { githubActionBenchmark } from './formats/github-action-benchmark.ts';
import { hyperfine } from './formats/hyperfine.ts';
import { junit } from './formats/junit.ts';
import { markdown } from './formats/markdown.ts';

export const FORMATS: Readonly<Record<string, Format>> = {
  benchfmt,
  junit,
  bencher,
  'github-action-benchmark': githubActionBenchmark,
  hyperfine,
  csv,
  markdown,
};

/** Why a run has nothing to give in a format; a run that was not judged ends as its analysis did. */
export const refusal = (name: string, { holds }: Format, analysis: Analysis): Failure | undefined => {
  if (holds !== 'comparisons') return undefined;
  const others = "'benchfmt', 'csv', 'junit' and 'markdown' can say so";
  if (analysis.mode === 'calibrate')
    return failed(
      `'${analysis.run}' is a calibration: it compares nothing that '${name}' could hold; ${others}`,
    );
  if (analysis.judged || analysis.exit === EXIT.done) return undefined;
  return new Failure(analysis.exit as Exit, [
    ...analysis.reasons,
    `'${analysis.run}' was not judged, and '${name}' has no place to say that; ${others}`,
  ]);
};

/** A run of trials in a format that has a place for them. */
export const trialsText = (name: string, format: Format, score: TrialsScore): string => {
  if (format.trials) return format.trials(score);
  const others = Object.entries(FORMATS).filter(([, one]) => one.trials);
  throw failed(
    `'${score.run ?? 'this'}' is a run of trials, and '${name}' has no place for them; ${others.map(([one]) => `'${one}'`).join(' and ')} have`,
  );
};

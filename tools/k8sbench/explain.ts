/** A pipeline as a shell script of single commands that does the same. Pure. */
import type { NotJudged } from './chain.ts';
import type { Step } from './links.ts';
import { asWord } from './quoting.ts';

/** Where a step's output is kept for the next one: the run directory's path, or a whole file. */
const variableOf = (taken: Step['takes'], tool: string): string => (taken === 'stdin' ? tool : 'run');

/** One line per step, each with what the one before printed; the last one's output is the pipeline's. */
const bodyOf = (steps: readonly Step[]): string[] =>
  steps.map(({ tool, args, takes }, at) => {
    const command = ['k8sbench', tool.name, ...args.map(asWord)].join(' ');
    const before = variableOf(takes, steps[at - 1]?.tool.name ?? '');
    const fed = { nothing: '', run: ` --run "$${before}"`, stdin: ` <<<"$${before}"` }[takes];
    const next = steps[at + 1];
    return next ? `${variableOf(next.takes, tool.name)}=$(${command}${fed}) &&` : command + fed;
  });

/** The script: runs the steps until one does not end with 0, and ends with its status. */
export const scriptOf = (steps: readonly Step[], notJudged: NotJudged): string => {
  const head = '#!/usr/bin/env bash\nset -o pipefail\n';
  if (notJudged.what === 'fail') return `${head}${bodyOf(steps).join('\n')}\n`;
  const attempt = `attempt() {\n${bodyOf(steps)
    .map((line) => `  ${line}\n`)
    .join('')}}\nattempt\nstatus=$?\n`;
  const after =
    notJudged.what === 'pass'
      ? '[ "$status" -ne 3 ] || status=0\n'
      : `for ((more = ${notJudged.times}; more > 0 && status == 3; more--)); do\n  attempt\n  status=$?\ndone\n`;
  return `${head}${attempt}${after}exit "$status"\n`;
};

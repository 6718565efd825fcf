/** A pipeline as a shell script of single commands that does the same. Pure. */
import type { NotJudged } from './chain.ts';
import { mayBeBad, type Step } from './links.ts';
import { asWord } from '../../shared/shell-words.ts';

/** Where a step's output is kept for the next one: the run directory's path, or a whole file. */
const variableOf = (taken: Step['takes'], tool: string): string => (taken === 'stdin' ? tool : 'run');

/** Keeps a bad judgement for the end, and lets the next step record it. */
const KEPT = '{ bad=$?; [ "$bad" -eq 4 ] || (exit "$bad"); }';

/**
 * One line per step, each with what the one before printed; the pipeline prints what the last one prints whose output is not
 * talk. A bad judgement (4) is the status when all went well. `counts`: it says as well when there is something to judge.
 */
const bodyOf = (steps: readonly Step[], counts: boolean): string[] => {
  const printing = steps.findLastIndex((one) => !one.beside);
  const bad = steps.slice(0, -1).some(mayBeBad);
  const first = steps.findIndex((one) => one.judges);
  const lines = steps.flatMap((step, at) => {
    const { tool, args, takes } = step;
    const command = ['k8sbench', tool.name, ...args.map(asWord)].join(' ');
    const before = variableOf(takes, steps[at - 1]?.tool.name ?? '');
    const fed = { nothing: '', run: ` --run "$${before}"`, stdin: ` <<<"$${before}"` }[takes];
    const next = steps[at + 1];
    const called =
      at < printing ? `${variableOf(next!.takes, tool.name)}=$(${command}${fed})` : command + fed;
    const kept = next && mayBeBad(step) ? ` || ${KEPT}` : '';
    return [
      ...(counts && at === first ? ['measured=1 &&'] : []),
      `${called}${at > printing ? ' >&2' : ''}${kept}${next || bad ? ' &&' : ''}`,
    ];
  });
  return bad ? ['bad=0 &&', ...lines, '(exit "$bad")'] : lines;
};

/** The script: runs the steps until one does not end with 0, and ends with its status. */
export const scriptOf = (steps: readonly Step[], notJudged: NotJudged): string => {
  const head = '#!/usr/bin/env bash\nset -o pipefail\n';
  const { retries, end } = notJudged;
  if (retries === 0 && end === 'fail') return `${head}${bodyOf(steps, false).join('\n')}\n`;
  const attempt = `attempt() {\n${['measured=0 &&', ...bodyOf(steps, true)]
    .map((line) => `  ${line}\n`)
    .join('')}}\nattempt\nstatus=$?\n`;
  const again =
    retries === 0
      ? ''
      : `for ((more = ${retries}; more > 0 && status == 3 && measured; more--)); do\n  attempt\n  status=$?\ndone\n`;
  const passed = end === 'pass' ? '((status == 3 && measured)) && status=0\n' : '';
  return `${head}${attempt}${again}${passed}exit "$status"\n`;
};

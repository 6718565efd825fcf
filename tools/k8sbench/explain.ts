/** A pipeline as a shell script of single commands that does the same. Pure. */
import type { NotJudged } from './chain.ts';
import { mayBeBad, type Step } from './links.ts';
import { asWord } from './quoting.ts';

/** Where a step's output is kept for the next one: the run directory's path, or a whole file. */
const variableOf = (taken: Step['takes'], tool: string): string => (taken === 'stdin' ? tool : 'run');

/** Keeps a bad judgement for the end, and lets the next step record it. */
const KEPT = '{ bad=$?; [ "$bad" -eq 4 ] || (exit "$bad"); }';

/**
 * One line per step, each with what the one before printed; the pipeline prints what the last one prints whose output is not
 * talk. A bad judgement (4) is the status when all went well.
 */
const bodyOf = (steps: readonly Step[]): string[] => {
  const printing = steps.findLastIndex((one) => !one.beside);
  const bad = steps.slice(0, -1).some(mayBeBad);
  const lines = steps.map((step, at) => {
    const { tool, args, takes } = step;
    const command = ['k8sbench', tool.name, ...args.map(asWord)].join(' ');
    const before = variableOf(takes, steps[at - 1]?.tool.name ?? '');
    const fed = { nothing: '', run: ` --run "$${before}"`, stdin: ` <<<"$${before}"` }[takes];
    const next = steps[at + 1];
    const called =
      at < printing ? `${variableOf(next!.takes, tool.name)}=$(${command}${fed})` : command + fed;
    const kept = next && mayBeBad(step) ? ` || ${KEPT}` : '';
    return `${called}${at > printing ? ' >&2' : ''}${kept}${next || bad ? ' &&' : ''}`;
  });
  return bad ? ['bad=0 &&', ...lines, '(exit "$bad")'] : lines;
};

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

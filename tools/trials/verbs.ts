/** The words after `trials`, one module each. A new one is a module and a row. */
import type { Call } from '../../shared/command-line.ts';
import type { Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { duration, list, readText, text, unlessNo, whole, yes } from '../../shared/flags.ts';
import { apply } from './apply.ts';
import { collect } from './collect.ts';
import { lock, lockFlags } from './lock.ts';
import { print, printFlags } from './print.ts';
import { score } from './score.ts';

export const flags = {
  ...printFlags,
  ...lockFlags,
  run: text(
    "apply, collect, score: directory that 'trials --out' made; '-' reads its path from stdin",
    'DIR',
  ),
  from: text("score: result lines of no run; '-' is stdin", 'FILE'),
  prices: text('score: what tokens cost, a YAML or JSON file', 'FILE'),
  draws: whole('score: how often tasks are drawn again for intervals', 'N', {
    min: 100,
    max: 1_000_000,
    default: 10_000,
  }),
  seed: whole('score: of those draws', 'N', { default: 1, max: 2 ** 32 - 1 }),
  out: text(
    "print: directory that gets trials.yaml and trials.json; lock: the lock (default: tasks.lock); score: '-' prints the score",
    'PATH',
  ),
  json: yes('print: print trials.json; score: print the score'),
  tasks: list('print, lock: only these tasks', 'A,…', readText),
  'at-once': whole('apply: so many Jobs of the run at once, at most', 'K', { min: 1, default: 10 }),
  again: yes("apply: also trials that were lost to the place, never one with a result or an agent's fault"),
  queue: text("apply: Kueue's queue (default: the namespace's only one; none: without)", 'NAME'),
  wait: unlessNo('collect: take what is there, wait for nothing'),
  settle: duration('apply, collect: how long what does not pass by itself may stand', '90s'),
  kubeconfig: text('apply, collect: kubeconfig file', 'FILE'),
  context: text('apply, collect: context of the kubeconfig', 'NAME'),
  'dry-run': yes('apply: print what would be done, contact nothing'),
};

export type TrialsCall = Call<typeof flags>;

export interface Verb {
  about: string;
  /** The flags that it takes. */
  flags: readonly (keyof typeof flags)[];
  run(call: TrialsCall): Promise<Exit>;
}

export const VERBS: Readonly<Record<string, Verb>> = { lock, print, apply, collect, score };

/** The verb that a command line names (one of them, the command line sees to it); a flag of another verb is refused. */
export const verbOf = ({ words, given }: TrialsCall): Verb => {
  const name = words[0] ?? 'print';
  const verb = VERBS[name]!;
  const surplus = [...given.keys()].filter((flag) => !verb.flags.includes(flag as keyof typeof flags));
  if (surplus.length > 0) throw usage(surplus.map((flag) => `'trials ${name}' takes no flag '--${flag}'`));
  return verb;
};

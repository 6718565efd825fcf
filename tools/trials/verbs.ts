/** The words after `trials`, one module each. A new one is a module and a row. */
import type { Call } from '../../shared/command-line.ts';
import type { Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { text, whole, yes } from '../../shared/flags.ts';
import { score } from './score.ts';

export const flags = {
  run: text("score: directory that 'trials --out' made; '-' reads its path from stdin", 'DIR'),
  from: text("score: result lines of no run; '-' is stdin", 'FILE'),
  prices: text('score: what tokens cost, a YAML or JSON file', 'FILE'),
  draws: whole('score: how often tasks are drawn again for intervals', 'N', {
    min: 100,
    max: 1_000_000,
    default: 10_000,
  }),
  seed: whole('score: of those draws', 'N', { default: 1, max: 2 ** 32 - 1 }),
  out: text("score: '-' prints the score instead of the run's path", '-'),
  json: yes('score: the same'),
};

export type TrialsCall = Call<typeof flags>;

export interface Verb {
  about: string;
  /** The flags that it takes. */
  flags: readonly (keyof typeof flags)[];
  run(call: TrialsCall): Promise<Exit>;
}

export const VERBS: Readonly<Record<string, Verb>> = { score };

/** The verb that a command line names (one of them, the command line sees to it); a flag of another verb is refused. */
export const verbOf = ({ words, given }: TrialsCall): Verb => {
  const name = words[0]!;
  const verb = VERBS[name]!;
  const surplus = [...given.keys()].filter((flag) => !verb.flags.includes(flag as keyof typeof flags));
  if (surplus.length > 0) throw usage(surplus.map((flag) => `'trials ${name}' takes no flag '--${flag}'`));
  return verb;
};

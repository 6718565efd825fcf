/** The words after `model`. A new one is a module and a row. */
import type { Call } from '../../shared/command-line.ts';
import type { Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { yes } from '../../shared/flags.ts';
import { lock, lockFlags } from './lock.ts';
import { print, printFlags } from './print.ts';

export const flags = {
  ...printFlags,
  json: yes('print JSON'),
  ...lockFlags,
};

export type ModelCall = Call<typeof flags>;

export interface Verb {
  about: string;
  /** The flags that it takes. */
  flags: readonly (keyof typeof flags)[];
  run(call: ModelCall): Promise<Exit>;
}

export const VERBS: Readonly<Record<string, Verb>> = { print, lock };

/** The verb that a command line names; none is `print`. A flag of another verb is refused. */
export const verbOf = ({ words, given }: ModelCall): Verb => {
  const name = words[0] ?? 'print';
  const verb = VERBS[name]!;
  const surplus = [...given.keys()].filter((flag) => !verb.flags.includes(flag as keyof typeof flags));
  if (surplus.length > 0) throw usage(surplus.map((flag) => `'model ${name}' takes no flag '--${flag}'`));
  return verb;
};

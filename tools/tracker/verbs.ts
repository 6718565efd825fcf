/** The words after `tracker`, one module each. A new one is a module and a row. */
import { usage } from '../../shared/failure.ts';
import { append } from './append.ts';
import { bisect } from './bisect.ts';
import { flags, type TrackerCall, type Verb } from './call.ts';
import { changes } from './changes.ts';
import { show } from './show.ts';

export const VERBS: Readonly<Record<string, Verb>> = { append, show, changes, bisect };

/** The verb that a command line names (one of them, the command line sees to it); a flag of another verb is refused. */
export const verbOf = ({ words, flags: given }: TrackerCall): Verb => {
  const name = words[0]!;
  const verb = VERBS[name]!;
  const surplus = (Object.keys(given) as (keyof typeof flags)[]).filter((flag) => {
    const value: unknown = given[flag];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    return isGiven && !verb.flags.includes(flag);
  });
  if (surplus.length > 0) throw usage(surplus.map((flag) => `'tracker ${name}' takes no flag '--${flag}'`));
  return verb;
};

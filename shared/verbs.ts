/** Tools whose first word says what to do: one module per verb, and one table of them. Pure. */
import type { Call } from './command-line.ts';
import type { Exit } from './exit.ts';
import { usage } from './failure.ts';
import type { Flags } from './flags.ts';

/** One verb of a tool with flags `F`. */
export interface Verb<F extends Flags> {
  /** One line, for the help. */
  about: string;
  /** The flags that it takes. */
  flags: readonly (keyof F & string)[];
  run(call: Call<F>): Promise<Exit>;
}

/** The block of a tool's help that lists its verbs. */
export const verbsText = (verbs: Readonly<Record<string, { about: string }>>): string => {
  const width = Math.max(...Object.keys(verbs).map((one) => one.length)) + 2;
  return [
    'VERBS',
    '',
    ...Object.entries(verbs).map(([name, { about }]) => `  ${name.padEnd(width)}${about}`),
  ].join('\n');
};

/** Flags of a command line that its verb does not take, as problems. */
export const surplusFlags = (
  tool: string,
  name: string,
  { flags }: { flags: readonly string[] },
  given: ReadonlyMap<string, unknown>,
): string[] =>
  [...given.keys()]
    .filter((flag) => !flags.includes(flag))
    .map((flag) => `'${tool} ${name}' takes no flag '--${flag}'`);

/** The verb that a command line names (one of them: the command line sees to it), else `otherwise`. A flag of another verb is refused. */
export const verbOf = <F extends Flags>(
  tool: string,
  verbs: Readonly<Record<string, Verb<F>>>,
  { words, given }: Pick<Call<F>, 'words' | 'given'>,
  otherwise = '',
): Verb<F> => {
  const name = words[0] ?? otherwise;
  const verb = verbs[name]!;
  const problems = surplusFlags(tool, name, verb, given);
  if (problems.length > 0) throw usage(problems);
  return verb;
};

/** What a shell needs to know of a tool to complete its command line, from the tool's own definition. Pure. */
import type { Tool } from '../../shared/command-line.ts';

export interface DescribedFlag {
  /** Without dashes. */
  name: string;
  about: string;
  /** Absent: a switch. */
  value?: { hint: string; options: readonly string[] };
}

export interface Described {
  name: string;
  about: string;
  /** For each positional word, what it can be; empty: anything. */
  words: (readonly string[])[];
  flags: DescribedFlag[];
}

/** The name of a tool as a program of its own: `make install` makes a link for each. */
export const linkOf = ({ name }: Pick<Described, 'name'>): string => `k8sbench-${name}`;

/** Flags as they are written: with their other names, and `no-` where that is the only use. */
const flagsOf = (flags: Tool['flags']): DescribedFlag[] =>
  Object.entries(flags).flatMap(([name, { kind, about, hint, options, negatable, alias }]) => {
    if (negatable) return [{ name: `no-${name}`, about }];
    const value = kind === 'boolean' ? {} : { value: { hint, options: options ?? [] } };
    return [name, ...(alias ?? [])].map((spelled) => Object.assign({ name: spelled, about }, value));
  });

export const described = (
  name: string,
  { about, flags, words }: Pick<Tool, 'about' | 'flags' | 'words'>,
): Described => ({
  name,
  about,
  words: words.map((one) => one.options ?? []),
  flags: [
    ...flagsOf(flags),
    { name: 'help', about: 'print what it takes' },
    { name: 'version', about: 'print the version' },
  ],
});

/** What a value is, from what the help text calls it. */
export const kindOf = (hint: string): 'directory' | 'file' | 'other' =>
  /\bDIR\b/.test(hint) ? 'directory' : /\b(FILE|PATH)\b/.test(hint) ? 'file' : 'other';

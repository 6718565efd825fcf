/** The links of a pipeline: which tools, in which order, and which of the pipeline's flags each takes. Pure. */
import type { Tool } from '../../shared/command-line.ts';
import type { Flag, Flags } from '../../shared/flags.ts';

/** One tool of a pipeline. */
export interface Link {
  tool: Tool;
  /** Words before its flags, such as `append`. */
  words?: readonly string[];
  /** Flags that the pipeline sets itself. */
  fixed?: readonly string[];
  /** Its flags that are not the pipeline's: set by it, or without meaning in it. */
  leave: readonly string[];
  /** Called only when one of its flags was given. */
  optional?: true;
  /** How it learns of the step before: the directory by `--run`, or standard input. */
  takes: 'nothing' | 'run' | 'stdin';
  /** What it is told when it takes the standard input, such as `--profile -`. */
  fed?: readonly string[];
}

/** A step ready to be called or printed. */
export interface Step {
  tool: Tool;
  args: string[];
  takes: Link['takes'];
}

/** Flag name → the link that takes it: the first that knows it, because what a run was planned with counts in every later step. */
const owners = (links: readonly Link[]): Map<string, Link> => {
  const found = new Map<string, Link>();
  for (const link of links)
    for (const name of Object.keys(link.tool.flags))
      if (!link.leave.includes(name) && !found.has(name)) found.set(name, link);
  return found;
};

/** A flag's line in the pipeline's help, where the word it belongs to (`append: …`) is understood. */
const inPipeline = ({ tool, words }: Link, name: string): Flag<unknown> => {
  const flag = tool.flags[name]!;
  const prefix = words?.[0] === undefined ? '' : `${words[0]}: `;
  return flag.about.startsWith(prefix) ? { ...flag, about: flag.about.slice(prefix.length) } : flag;
};

/** The flags of a pipeline: those of its tools. */
export const flagsOf = (links: readonly Link[]): Flags =>
  Object.fromEntries([...owners(links)].map(([name, link]) => [name, inPipeline(link, name)]));

/** A flag as it is written on a command line again. */
const asWritten = (name: string, flag: Flag<unknown>, values: readonly string[]): string[] =>
  flag.kind === 'boolean'
    ? values.map((value) => (value === 'true' ? `--${name}` : `--no-${name}`))
    : values.flatMap((value) => [`--${name}`, value]);

/** The steps of a pipeline for the flags that were given. */
export const stepsOf = (links: readonly Link[], given: ReadonlyMap<string, readonly string[]>): Step[] => {
  const owner = owners(links);
  const mine = (link: Link): string[] => [...given.keys()].filter((name) => owner.get(name) === link);
  return links
    .filter((link) => !link.optional || mine(link).length > 0)
    .map((link, at) => ({
      tool: link.tool,
      args: [
        ...(link.words ?? []),
        ...(link.fixed ?? []),
        ...(at > 0 ? (link.fed ?? []) : []),
        ...mine(link).flatMap((name) => asWritten(name, link.tool.flags[name]!, given.get(name)!)),
      ],
      takes: at > 0 ? link.takes : 'nothing',
    }));
};

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
  /** Words of another link's list flag that are this one's. */
  shares?: { flag: string; words: readonly string[] };
  /** Flags of another link that it is told as well. */
  also?: readonly string[];
  /** What it prints is talk: the pipeline prints what the step before it did. */
  beside?: true;
  /** It judges what was measured: that it ends with 3 is noise. Another step that does so measured nothing. */
  judges?: true;
}

/** A step ready to be called or printed. */
export interface Step {
  tool: Tool;
  args: string[];
  takes: Link['takes'];
  beside?: true;
  judges?: true;
}

/** A step that may end with 4, which ends no pipeline: what was judged is recorded all the same. */
export const mayBeBad = ({ args }: Step): boolean => args.includes('--fail-on');

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

/** Words of a list flag: those that are another link's, and the rest. */
const divided = (given: string, words: readonly string[]): { theirs: string; rest: string } => {
  const all = given.split(',');
  return {
    theirs: all.filter((one) => words.includes(one)).join(),
    rest: all.filter((one) => !words.includes(one)).join(),
  };
};

/** A list flag that takes another link's words too. */
const withWords = (
  flag: Flag<unknown>,
  { flag: name, words }: NonNullable<Link['shares']>,
  about: Link,
): Flag<unknown> => ({
  ...flag,
  about: `${flag.about}; ${inPipeline(about, name).about}`,
  read(given) {
    const { rest } = divided(given, words);
    const found = rest === '' && given !== '' ? ({ ok: true, value: [] } as const) : flag.read(rest);
    return found.ok ? found : { ok: false, expected: `${found.expected}, ${words.join(', ')}` };
  },
});

/** The flags of a pipeline: those of its tools. */
export const flagsOf = (links: readonly Link[]): Flags =>
  Object.fromEntries(
    [...owners(links)].map(([name, link]) => {
      const flag = inPipeline(link, name);
      const other = links.find((one) => one.shares?.flag === name);
      return [name, other ? withWords(flag, other.shares!, other) : flag];
    }),
  );

/** A flag as it is written on a command line again. */
const asWritten = (name: string, flag: Flag<unknown>, values: readonly string[]): string[] =>
  flag.kind === 'boolean'
    ? values.map((value) => (value === 'true' ? `--${name}` : `--no-${name}`))
    : values.flatMap((value) => [`--${name}`, value]);

type Given = ReadonlyMap<string, readonly string[]>;

/** The flags that a link takes, with their values. */
const takenBy = (link: Link, links: readonly Link[], given: Given): Map<string, readonly string[]> => {
  const owner = owners(links);
  const taken = new Map<string, readonly string[]>();
  for (const [name, values] of given) {
    const other = links.find((one) => one.shares?.flag === name);
    const part = (one: string) => divided(one, other?.shares?.words ?? []);
    const mine =
      owner.get(name) === link
        ? other
          ? values.map((one) => part(one).rest)
          : values
        : other === link
          ? values.map((one) => part(one).theirs)
          : [];
    const kept = other ? mine.filter((one) => one !== '') : mine;
    if (kept.length > 0) taken.set(name, kept);
  }
  return taken;
};

/** The steps of a pipeline for the flags that were given. */
export const stepsOf = (links: readonly Link[], given: Given): Step[] =>
  links
    .map((link) => ({ link, taken: takenBy(link, links, given) }))
    .filter(({ link, taken }) => !link.optional || taken.size > 0)
    .map(({ link, taken }, at) => {
      const { tool, words = [], fixed = [], fed = [], also = [] } = link;
      const written = (name: string, values: readonly string[] = []): string[] =>
        asWritten(name, tool.flags[name]!, values);
      const step: Step = {
        tool,
        args: [
          ...words,
          ...fixed,
          ...(at > 0 ? fed : []),
          ...[...taken].flatMap(([name, values]) => written(name, values)),
          ...also.flatMap((name) => written(name, given.get(name))),
        ],
        takes: at > 0 ? link.takes : 'nothing',
      };
      if (link.beside) step.beside = true;
      if (link.judges) step.judges = true;
      return step;
    });

/** The command line of `profile`, and which of its uses one asks for. */
import { usage } from '../../shared/failure.ts';
import { type Flags, many, text, unlessNo, type Values, whole, yes } from '../../shared/flags.ts';
import type { TwoCommits } from './commits.ts';
import { DEFAULT_REPEAT, type PlainCommands } from './plain-commands.ts';

export const flags = {
  list: yes('list the built-in profiles'),
  json: yes('with --list: as JSON'),
  reference: text('plain commands: what the others are held against', 'CMD'),
  candidate: many(text('plain commands: what is compared with the reference', 'CMD')),
  floor: text('plain commands: what every target costs anyway, for example true', 'CMD'),
  prepare: text('run before each process of a plain command, untimed', 'CMD'),
  repeat: whole(`processes of a plain command in one sample (Default: ${DEFAULT_REPEAT})`, 'K', {
    min: 2,
    max: 10_000,
  }),
  name: text('name of the profile and its history (Default: made from the commands)', 'NAME'),
  'output-check': unlessNo("plain commands: let the targets' standard outputs differ"),
  old: text('two commits: the reference, any revision', 'REV'),
  new: text('two commits: the candidate, any revision, or WORKTREE', 'REV'),
  build: many(text('two commits: run in the tree of each commit, in the order given', 'CMD')),
  sample: text("two commits: the plain command that is measured; ./x is the commit's own file", 'CMD'),
  'remove-builds': yes("remove this repository's kept builds"),
} as const satisfies Flags;

export type Asked =
  | { use: 'list'; json: boolean }
  | { use: 'check'; profile: string }
  | { use: 'commands'; commands: PlainCommands }
  | { use: 'commits'; commits: TwoCommits }
  | { use: 'remove-builds' };

const given = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;

/** What is asked for; uses that exclude each other and parts that are missing are told all at once. */
export const askedOf = (values: Values<typeof flags>, words: readonly string[]): Asked => {
  const problems: string[] = [];
  const named = (names: readonly (keyof typeof flags)[]): string[] =>
    names.filter((name) => given(values[name])).map((name) => `--${name}`);
  const uses = {
    check: words.slice(0, 1),
    list: named(['list']),
    commands: named(['reference', 'candidate']),
    commits: named(['old', 'new', 'build', 'sample']),
    'remove-builds': named(['remove-builds']),
  };
  const wanted = Object.entries(uses).filter(([, by]) => by.length > 0);
  if (wanted.length === 0)
    throw usage(
      "nothing to do: name a profile, or use --list, or --reference CMD --candidate CMD, or --old REV --new REV --sample CMD; 'k8sbench profile --help' shows more",
    );
  if (wanted.length > 1)
    problems.push(`${wanted.map(([, by]) => `'${by[0]}'`).join(' and ')} exclude each other; ask for one`);
  const use = wanted[0]![0] as keyof typeof uses;
  const measured = [
    ...named(['floor', 'prepare', 'repeat', 'name']),
    ...(values['output-check'] ? [] : ['--no-output-check']),
  ];
  if (use !== 'commands' && use !== 'commits')
    problems.push(...measured.map((one) => `'${one}' belongs to plain commands; it has no meaning here`));
  if (values.json && use !== 'list')
    problems.push("'--json' belongs to --list; a profile is printed as JSON anyway");
  const needed = (names: readonly (keyof typeof flags)[]): void => {
    for (const name of names) if (!given(values[name])) problems.push(`'--${name}' is missing`);
  };
  if (use === 'commands') needed(['reference', 'candidate']);
  if (use === 'commits') needed(['old', 'new', 'sample']);
  if (problems.length > 0) throw usage(problems);

  const { floor, prepare, name } = values;
  const shared = {
    repeat: values.repeat ?? DEFAULT_REPEAT,
    outputCheck: values['output-check'],
    ...(floor === undefined ? {} : { floor }),
    ...(prepare === undefined ? {} : { prepare }),
    ...(name === undefined ? {} : { name }),
  };
  switch (use) {
    case 'list':
      return { use, json: values.json };
    case 'remove-builds':
      return { use };
    case 'check':
      return { use, profile: words[0]! };
    case 'commands':
      return { use, commands: { ...shared, reference: values.reference!, candidates: values.candidate } };
    case 'commits':
      return {
        use,
        commits: {
          ...shared,
          old: values.old!,
          new: values.new!,
          builds: values.build,
          sample: values.sample!,
        },
      };
  }
};

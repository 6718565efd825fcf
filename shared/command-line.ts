import type { Call, Tool, ToolDefinition, Word } from './command-definition.ts';
import { helpOf } from './command-help.ts';
import { EXIT, type Exit } from './exit.ts';
import { cause, Failure, isSystemError, usage } from './failure.ts';
import type { Flag, Flags } from './flags.ts';
import { nearest } from './nearest.ts';
import { type Talk, talkOn } from './talk.ts';
import { VERSION } from './version.ts';
import { realWorld, type World } from './world.ts';

export type { Call, Tool, ToolDefinition, Word };

interface Scan {
  given: Map<string, string[]>;
  words: string[];
  problems: string[];
}

/** A flag as it is spelled on a command line, `--no-` before one that can be switched off. */
interface Spelled {
  name: string;
  flag: Flag<unknown>;
  negated: boolean;
}

/** Every spelling of every flag: its name, its other names, and `no-<name>`. */
const spellings = (flags: Flags): ReadonlyMap<string, Spelled> => {
  const all = new Map<string, Spelled>();
  for (const [name, flag] of Object.entries(flags)) {
    for (const spelled of [name, ...(flag.alias ?? [])]) all.set(spelled, { name, flag, negated: false });
    if (flag.negatable) all.set(`no-${name}`, { name, flag, negated: true });
  }
  return all;
};

/** A word of the command line as a flag: one or two dashes, perhaps a value after `=`. */
const FLAG = /^--?([^=]*)(?:=([\s\S]*))?$/;

/**
 * Splits the raw words into flags and positionals. citty's own parser accepts unknown flags, reads a missing value as ""
 * and lets the last repetition win, so citty only holds the definition and renders the help.
 */
const scan = (args: readonly string[], definition: ToolDefinition<Flags>): Scan => {
  const result: Scan = { given: new Map(), words: [], problems: [] };
  const known = spellings(definition.flags);
  for (let at = 0; at < args.length; at++) {
    const raw = args[at]!;
    if (raw === '--') {
      result.words.push(...args.slice(at + 1));
      break;
    }
    if (raw === '-' || !raw.startsWith('-')) {
      result.words.push(raw);
      continue;
    }
    const [, spelled = '', inline] = FLAG.exec(raw) ?? [];
    const next = args[at + 1];
    const found = known.get(spelled);
    if (!found) {
      const close = nearest(spelled, [...known.keys()]);
      result.problems.push(
        `unknown flag '${raw.split('=')[0]}'` + (close ? `; did you mean '--${close}'?` : ''),
      );
      // A value that belonged to the unknown flag would be reported as a surplus word: one mistake, one problem.
      if (inline === undefined && next !== undefined && !next.startsWith('-')) at++;
      continue;
    }
    const { name, flag, negated } = found;
    const before = result.given.get(name);
    if (flag.kind === 'boolean') {
      if (inline !== undefined) result.problems.push(`flag '--${spelled}' takes no value, found '${inline}'`);
      if (before) result.problems.push(`flag '--${spelled}' is given twice`);
      result.given.set(name, [negated ? 'false' : 'true']);
      continue;
    }
    // `--turns --rounds 5` forgot a value; a value that does start with a dash is joined to its flag.
    if (inline === undefined && (next === undefined || /^-./.test(next))) {
      const joined =
        next === undefined ? '' : `; a value that starts with '-' is written --${spelled}=${next}`;
      result.problems.push(`flag '--${spelled}' needs a value: --${spelled}=<${flag.hint}>${joined}`);
      if (next !== undefined && !known.has(FLAG.exec(next)?.[1] ?? '')) at++;
      continue;
    }
    const value = inline ?? args[++at]!;
    if (before && flag.kind !== 'many')
      result.problems.push(`flag '--${name}' is given twice: '${before[0]}' and '${value}'`);
    result.given.set(name, [...(before ?? []), value]);
  }
  return result;
};

const readFlag = (
  name: string,
  flag: Flag<unknown>,
  given: readonly string[] | undefined,
  problems: string[],
): unknown => {
  const take = (text: string): unknown => {
    const read = flag.read(text);
    if (read.ok) return read.value;
    problems.push(`flag '--${name}': expected ${read.expected}, found '${text}'`);
    return undefined;
  };
  if (flag.kind === 'boolean') return given ? given[0] === 'true' : flag.negatable === true;
  if (flag.kind === 'many') return (given ?? []).map(take);
  const text = given?.[0] ?? flag.default;
  return text === undefined ? undefined : take(text);
};

/** Flags and words of a command line, or one Failure that names every problem. */
const parse = (
  args: readonly string[],
  definition: ToolDefinition<Flags>,
): Pick<Call<Flags>, 'flags' | 'given' | 'words'> => {
  const { given, words, problems } = scan(args, definition);
  const wanted = definition.words ?? [];
  const open = wanted.at(-1)?.name.endsWith('…') === true;
  if (!open && words.length > wanted.length)
    problems.push(...words.slice(wanted.length).map((one) => `unexpected argument '${one}'`));
  for (const missing of wanted.filter((one, at) => one.required && words[at] === undefined))
    problems.push(`missing argument ${missing.name}: ${missing.about}`);
  for (const [at, { name, options }] of wanted.entries())
    if (options && words[at] !== undefined && !options.includes(words[at]))
      problems.push(`argument ${name}: expected ${options.join(', ')}, found '${words[at]}'`);
  const flags: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(definition.flags))
    flags[name] = readFlag(name, flag, given.get(name), problems);
  if (problems.length > 0)
    throw usage([...problems, `'k8sbench ${definition.name} --help' shows what it takes`]);
  return { flags, given, words };
};

/** Says what went wrong and gives the exit status; only a bug of ours shows its stack. */
export const report = (error: unknown, talk: Talk): Exit => {
  if (error instanceof Failure) {
    for (const one of error.problems) talk.error(one);
    return error.exit;
  }
  if (isSystemError(error)) {
    const { path, syscall } = error as NodeJS.ErrnoException;
    talk.error(`can't ${syscall ?? 'use'}${path ? ` '${path}'` : ''}: ${cause(error)}`);
    return EXIT.failed;
  }
  talk.error(
    `this is a bug in k8sbench; please report it:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return EXIT.failed;
};

/** What a signal cuts short, such as a request, throws the signal's own name or an AbortError. */
const isInterruption = (error: unknown, { interrupted }: World): boolean =>
  interrupted.aborted &&
  (error === interrupted.reason || (error as { name?: unknown } | undefined)?.name === 'AbortError');

/**
 * One tool from its definition. `main` refuses unknown flags, repeated flags, surplus words and values out of range, all
 * in one message, before `run` is called; it returns the exit status and never ends the process.
 */
export const defineTool = <const F extends Flags>(typed: ToolDefinition<F>): Tool => {
  const definition = typed as unknown as ToolDefinition<Flags>;
  return {
    name: definition.name,
    about: definition.about,
    flags: definition.flags,
    words: definition.words ?? [],
    help: () => helpOf(definition),
    async main(args, world) {
      const talk = talkOn(world, definition.name);
      const flagsEnd = args.indexOf('--') === -1 ? args.length : args.indexOf('--');
      const asked = (name: string): boolean =>
        args.slice(0, flagsEnd).some((one) => one === `--${name}` || one === `-${name}`);
      try {
        if (asked('help') || asked('h')) {
          await world.stdout.write(await helpOf(definition));
          return EXIT.done;
        }
        if (asked('version')) {
          await world.stdout.write(`k8sbench ${VERSION}\n`);
          return EXIT.done;
        }
        return await definition.run({ ...parse(args, definition), world, talk });
      } catch (error) {
        if (!isInterruption(error, world)) return report(error, talk);
        talk.error(`interrupted by ${String(world.interrupted.reason)}`);
        return EXIT.interrupted;
      } finally {
        await talk.flushed();
      }
    },
  };
};

/** Runs a tool as this process: sets the exit status and lets the process end by itself, so that no output is lost. */
export const runAsProgram = async (tool: Tool): Promise<void> => {
  process.exitCode = await tool.main(process.argv.slice(2), realWorld());
};

/** A profile of plain commands, each given as one string. Pure. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Profile, Target } from '../../schemas/profile.ts';
import { usage } from '../../shared/failure.ts';
import { escapeBraces, splitWords } from './shell-words.ts';

/** K: fresh processes per sample when nothing else is asked for. */
export const DEFAULT_REPEAT = 5;

export interface PlainCommands {
  /** Each `CMD` or `NAME=CMD`. */
  reference: string;
  candidates: readonly string[];
  floor?: string;
  /** Runs untimed before each process of every target. */
  prepare?: string;
  repeat: number;
  name?: string;
  outputCheck: boolean;
}

type Role = Extract<Target['role'], 'candidate' | 'reference' | 'floor'>;
export interface NamedCommand {
  role: Role;
  /** As the user named it. */
  name?: string;
  words: readonly string[];
  /** Runs untimed before each process of this target. */
  prepare?: readonly string[];
}

/**
 * `NAME=` before a command names its target: lower case, so that `LC_ALL=C sort` stays what it is, a variable for a shell
 * (and is refused as that).
 */
const NAMED = /^([a-z][a-z0-9.-]{0,62})=(?=\S)/;

/** One command string of a flag; problems are added to the list. */
export const readCommand = (text: string, role: Role, flag: string, problems: string[]): NamedCommand => {
  const named = NAMED.exec(text);
  const words = readWords(named ? text.slice(named[0].length) : text, flag, problems);
  return { role, words, ...(named ? { name: named[1]! } : {}) };
};

/** The words of a command string; problems are added to the list, each with what to do. */
export const readWords = (text: string, flag: string, problems: string[]): string[] => {
  const split = splitWords(text);
  if ('words' in split) return split.words;
  problems.push(
    ...split.problems.map(
      (one) =>
        `flag '--${flag}': '${text}': ${one}` +
        (/shell/.test(one) && !/env /.test(one) ? "; none runs here: quote it, or write sh -c '…'" : ''),
    ),
  );
  return [];
};

/** A program's name as part of a target's name. */
const programName = (words: readonly string[]): string =>
  basename(words[0] ?? '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 30);

/**
 * Names of the targets: as given; else the programs' names when these tell them apart; else the roles, candidates counted
 * when there are several.
 */
export const targetNames = (commands: readonly NamedCommand[]): string[] => {
  const byProgram = commands.map((one) => one.name ?? programName(one.words));
  if (new Set(byProgram).size === commands.length && byProgram.every((one) => one !== '')) return byProgram;
  const candidates = commands.filter((one) => one.role === 'candidate');
  return commands.map((one) => {
    if (one.name) return one.name;
    return one.role === 'candidate' && candidates.length > 1
      ? `candidate-${candidates.indexOf(one) + 1}`
      : one.role;
  });
};

/**
 * A name that stands for the question: the programs, and a digest of everything that makes it this question. The tracker
 * keeps histories by it, so another command must not continue the history of this one.
 */
export const questionName = (commands: readonly NamedCommand[], question: unknown): string => {
  const programs = [
    ...new Set(commands.filter((one) => one.role !== 'floor').map((one) => programName(one.words))),
  ];
  const digest = createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 6);
  return [...programs.filter((one) => one !== '').slice(0, 2), digest]
    .join('-')
    .slice(-60)
    .replace(/^[^A-Za-z0-9]+/, '');
};

export interface Assembled {
  commands: readonly NamedCommand[];
  repeat: number;
  outputCheck: boolean;
  name: string;
  about: string;
  /** Commit of a target, by role. */
  commits?: Partial<Record<Role, string>>;
}

const escaped = (words: readonly string[]): string[] => words.map(escapeBraces);

/** The profile that the parts make; its fields are checked by the schema afterwards. */
export const assemble = (parts: Assembled): Profile => {
  const names = targetNames(parts.commands);
  return {
    name: parts.name,
    rule: parts.name,
    about: parts.about,
    fingerprints: {},
    targets: parts.commands.map((one, at): Target => {
      const commit = parts.commits?.[one.role];
      return {
        name: names[at]!,
        role: one.role,
        command: escaped(one.words),
        ...(one.prepare ? { prepare: escaped(one.prepare) } : {}),
        ...(commit === undefined ? {} : { commit }),
      };
    }),
    metrics: [],
    repeat: parts.repeat,
    ...(parts.outputCheck ? {} : { outputCheck: false }),
  };
};

/** The profile of two or more commands, or every problem of their strings at once. */
export const plainProfile = (asked: PlainCommands): Profile => {
  const problems: string[] = [];
  const commands = [
    ...asked.candidates.map((one) => readCommand(one, 'candidate', 'candidate', problems)),
    readCommand(asked.reference, 'reference', 'reference', problems),
    ...(asked.floor === undefined ? [] : [readCommand(asked.floor, 'floor', 'floor', problems)]),
  ];
  const prepare = asked.prepare === undefined ? undefined : readWords(asked.prepare, 'prepare', problems);
  if (problems.length > 0) throw usage(problems);
  const question = {
    commands: commands.map(({ role, words }) => [role, words]),
    prepare,
    check: asked.outputCheck,
  };
  return assemble({
    commands: commands.map((one) => ({ ...one, ...(prepare ? { prepare } : {}) })),
    repeat: asked.repeat,
    outputCheck: asked.outputCheck,
    name: asked.name ?? questionName(commands, question),
    about: 'plain commands, timed from outside: K fresh processes are the turns of a sample',
  });
};

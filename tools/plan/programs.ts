/** The programs that a local session starts: each found now, so that none is missed after an hour of measuring. Pure. */
import { isAbsolute, join, resolve } from 'node:path';
import { fill, rootPathsIn, settledPath, uses } from '../../schemas/placeholders.ts';
import type { Profile, Target } from '../../schemas/profile.ts';
import { parseCpuList } from '../../shared/cpu-list.ts';
import { NODE_MAJOR } from '../../shared/profiles/built-in.ts';
import type { Machine } from './machine.ts';

const COMMANDS = ['seed', 'sample', 'command', 'prepare'] as const;

/** A target's commands, with the field each stands in. */
const commandsOf = (target: Target): [string, readonly string[]][] =>
  COMMANDS.flatMap((field) => (target[field] ? [[field, target[field]] as [string, string[]]] : []));

const isTypeScriptOnNode = (words: readonly string[]): boolean =>
  words[0] === 'node' && words.slice(1).some((word) => word.startsWith('{root}/') && word.endsWith('.ts'));

/** The Node that a session starts: bin/ of the artifacts stands first on its PATH. */
const nodeOf = (machine: Machine, root: string | undefined): string | undefined =>
  (root === undefined ? undefined : [join(root, 'bin/node')].find(machine.isExecutable)) ??
  machine.onPath('node');

/** The first Node that can be told to run TypeScript. */
const NODE_WITH_TYPES = 22;

/** A profile of the user's own keeps its runtime; one that can't run what it is given is refused. */
export const runtimeProblems = (profile: Profile, machine: Machine, root?: string): string[] => {
  const wanting = profile.targets.filter((one) =>
    commandsOf(one).some(([, words]) => isTypeScriptOnNode(words)),
  );
  const node = wanting.length > 0 ? nodeOf(machine, root) : undefined;
  const major = node === undefined ? undefined : machine.nodeMajor(node);
  return major === undefined || major >= NODE_WITH_TYPES
    ? []
    : [
        `${wanting.map((one) => `'${one.name}'`).join(', ')} run TypeScript on 'node', which on the PATH is release ${major} and can't; let the profile start 'bun', or a Node from ${NODE_MAJOR} on`,
      ];
};

/** A word whose braces are braces, not placeholders. */
const braced = (word: string): string => word.replace(/[{}]/g, '$&$&');

export interface Runtime {
  profile: Profile;
  /** What was chosen instead of `node`, and why; undefined: nothing was. */
  said?: string;
}

/**
 * Built-in workloads name `node` as their runtime, which in a pod is the base image's. Here it is the Node of the artifacts, or the PATH's, when it
 * runs TypeScript, else Bun: the PATH's, else the one that runs this. What was chosen is written into the profile.
 */
export const withRuntime = (profile: Profile, machine: Machine, root?: string): Runtime => {
  if (!profile.targets.some((target) => commandsOf(target).some(([, words]) => isTypeScriptOnNode(words))))
    return { profile };
  const node = nodeOf(machine, root);
  const major = node === undefined ? undefined : machine.nodeMajor(node);
  if (major !== undefined && major >= NODE_MAJOR) return { profile };
  const bun = machine.onPath('bun') ? ['bun'] : machine.bun.map(braced);
  const replaced = (words: string[]): string[] =>
    isTypeScriptOnNode(words) ? [...bun, ...words.slice(1)] : words;
  const targets = profile.targets.map((target) => {
    const copy = { ...target };
    for (const field of COMMANDS) if (copy[field]) copy[field] = replaced(copy[field]);
    return copy;
  });
  const reason = major === undefined ? "no 'node' is on the PATH" : `'node' on the PATH is release ${major}`;
  return {
    profile: { ...profile, targets },
    said: `the workload runs on '${bun.join(' ')}': it needs Node ${NODE_MAJOR} or Bun, and ${reason}`,
  };
};

export interface Places {
  /** What `{root}` stands for, absolute. */
  root: string;
  /** Where plain commands run, absolute. */
  cwd: string;
}

/** A word with `{root}` filled in and its braces read; undefined when another placeholder is part of it. */
const known = (word: string, root: string): string | undefined =>
  (['dir', 'turns', 'sample'] as const).some((name) => uses(word, name)) ? undefined : fill(word, { root });

/** Files of the root that a command's arguments name. */
const rootFiles = (words: readonly string[], root: string): string[] =>
  words.flatMap(rootPathsIn).flatMap((part) => {
    const path = settledPath(part);
    return path === undefined ? [] : [join(root, path)];
  });

export interface Programs {
  /** Target → absolute path of the program that its sample or command starts. */
  paths: Record<string, string>;
  problems: string[];
}

/** Finds every program that the targets of the session start; what is missing is a problem, named once. */
export const programsOf = (targets: readonly Target[], { root, cwd }: Places, machine: Machine): Programs => {
  const paths: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const target of targets)
    for (const [field, words] of commandsOf(target)) {
      const program = known(words[0]!, root);
      if (program === undefined) continue;
      const path = program.includes('/')
        ? isAbsolute(program)
          ? program
          : resolve(cwd, program)
        : // As the session looks for it: bin/ of the artifacts stands first on the PATH.
          ([join(root, 'bin', program)].find(machine.isExecutable) ?? machine.onPath(program));
      const place = `target '${target.name}', ${field}: '${program}'`;
      if (path === undefined)
        problems.set(program, `${place} is not on the PATH; install it, or write its path`);
      else if (!machine.exists(path)) problems.set(program, `${place} does not exist`);
      else if (!machine.isExecutable(path))
        problems.set(program, `${place} is not an executable file; chmod +x it`);
      else if (field === 'sample' || field === 'command') paths[target.name] = path;
      for (const file of rootFiles(words.slice(1), root))
        if (!machine.exists(file))
          problems.set(file, `target '${target.name}', ${field}: '${file}' does not exist`);
    }
  return { paths, problems: [...problems.values()] };
};

/** Why this machine can't pin as asked. */
export const pinProblems = (pin: string, machine: Machine): string[] => {
  if (pin === 'none') return [];
  if (machine.onPath('taskset') === undefined)
    return [
      "'taskset' is not on the PATH, and pins processes to cores; install util-linux, or plan with --pin none",
    ];
  const allowed = machine.allowedCpus();
  if (pin === 'auto' || allowed === undefined) return [];
  const here = new Set(parseCpuList(allowed));
  const outside = (parseCpuList(pin) ?? []).filter((cpu) => !here.has(cpu));
  return outside.length === 0
    ? []
    : [`flag '--pin': CPUs ${outside.join(', ')} are not among those this process may use, ${allowed}`];
};

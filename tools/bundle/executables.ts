/** Whether what a bundle can start would start in the pod: programs by their ELF head, scripts by their first line. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Contents } from '../../shared/bundle/contents.ts';
import { type Elf, libcOf, readElf } from './elf.ts';

export interface Executables {
  problems: string[];
  /** What the base image must have, one sentence each. */
  needs: string[];
}

/** What every base image of a session has: it starts with sh, and holds Node (spec §4). */
const BASE_PROGRAMS = new Set(['sh', 'node', 'env', 'tar', 'gzip', 'sha256sum']);
const BASE_PATHS = new Set(['/bin/sh', '/usr/bin/env']);
const FIRST_LINE = 256;

/** Installed packages and an interpreter's library bring programs for other machines and places, too; nobody starts them unless a target names them. */
const isOfPackage = (path: string): boolean =>
  path.split('/').includes('node_modules') || /^python\/(?!bin\/python)/.test(path);

const firstLine = (path: string): string => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const head = Buffer.alloc(FIRST_LINE);
    return head
      .subarray(0, readSync(fd, head, 0, FIRST_LINE, 0))
      .toString('latin1')
      .split('\n')[0]!;
  } finally {
    closeSync(fd);
  }
};

/** Why a script's interpreter isn't found in the pod; undefined when it is. `has` tells what the bundle holds. */
export const shebangProblem = (line: string, has: (path: string) => boolean): string | undefined => {
  if (!line.startsWith('#!')) return undefined;
  if (line.endsWith('\r')) return 'its first line ends with a carriage return, which no kernel takes';
  const [interpreter = '', ...words] = line
    .slice(2)
    .trim()
    .split(/[ \t]+/);
  if (interpreter === '') return 'its first line names no interpreter';
  if (interpreter === '/usr/bin/env') {
    const name = words.find((one) => !one.startsWith('-') && !one.includes('='));
    if (name === undefined) return "its first line names no program after '/usr/bin/env'";
    return BASE_PROGRAMS.has(name) || has(`bin/${name}`)
      ? undefined
      : `it wants '${name}', which is neither in the bundle's bin/ nor surely in the base image`;
  }
  if (BASE_PATHS.has(interpreter)) return undefined;
  return `it wants '${interpreter}', which not every base image has; write '#!/usr/bin/env …' or '#!/bin/sh'`;
};

const elfProblem = (elf: Elf, arch: Contents['arch']): string | undefined => {
  if (elf.broken) return `is no whole executable: ${elf.broken}`;
  if (elf.bits === 32) return 'is a 32-bit program; pods run 64-bit ones';
  if (elf.bigEndian) return 'is a big-endian program';
  if (!elf.arch) return `is for another machine (ELF ${elf.machine}) than amd64 and arm64`;
  if (arch && elf.arch !== arch) return `is for ${elf.arch}, the bundle for ${arch}`;
  if (elf.interpreter !== undefined && !libcOf(elf.interpreter))
    return `wants the loader '${elf.interpreter}', which no base image is known to have`;
  return undefined;
};

/** Looks at every executable of a bundle that was read. bin/ is also looked at by {@link readBundle}; this goes deeper. */
export const executablesOf = ({ directory, files, links, arch }: Contents): Executables => {
  const problems: string[] = [];
  const loaders = new Map<string, string[]>();
  const paths = new Set([...files, ...links].map((one) => one.path));
  for (const { path, executable } of files) {
    const inBin = path.startsWith('bin/');
    if (!inBin && (!executable || isOfPackage(path))) continue;
    const elf = readElf(join(directory, path));
    if (elf) {
      if (inBin && !executable) problems.push(`'${path}' is not executable; chmod +x it`);
      const problem = elf.program || inBin ? elfProblem(elf, arch) : undefined;
      if (problem) problems.push(`'${path}' ${problem}`);
      else if (inBin && !elf.program) problems.push(`'${path}' is a library, not a program`);
      else if (elf.interpreter !== undefined)
        loaders.set(elf.interpreter, [...(loaders.get(elf.interpreter) ?? []), path]);
      continue;
    }
    const problem = inBin
      ? undefined
      : shebangProblem(firstLine(join(directory, path)), (one) => paths.has(one));
    if (problem) problems.push(`'${path}' can't be started in the pod: ${problem}`);
  }
  const libcs = new Set([...loaders.keys()].map(libcOf));
  if (libcs.size > 1)
    problems.push(
      `its programs want two C libraries, and a base image has one: ${[...loaders].map(([loader, of]) => `${of.join(', ')} want '${loader}'`).join('; ')}`,
    );
  const needs = [...loaders].map(
    ([loader, of]) => `the base image must have '${loader}' (${libcOf(loader)}), for ${of.join(', ')}`,
  );
  return { problems, needs };
};

/**
 * A bundle's directory, read and checked (spec §8): COMMIT, VERSIONS, ARTIFACTS.sha256, bin/ and the rest. Every path in it
 * was made by others: what leaves the directory, or is neither file nor link, is refused with its place.
 */
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../../schemas/primitives.ts';
import { rootPathsIn, settledPath } from '../../schemas/placeholders.ts';
import type { Target } from '../../schemas/profile.ts';
import { cause } from '../failure.ts';
import { fileDigest } from './digest.ts';
import { leadsOut } from './links.ts';
import { readText } from '../read.ts';
import { versionsIn } from './versions.ts';

/** What every bundle has beside the files it lists. */
const OWN_FILES = ['ARTIFACTS.sha256', 'COMMIT', 'VERSIONS'] as const;

export interface BundleFile {
  /** Inside the directory, `/` as separator. */
  path: string;
  size: number;
  executable: boolean;
}

export interface BundleLink {
  path: string;
  target: string;
}

export interface Contents {
  directory: string;
  /** In bytewise order of their paths, the bundle's own files included. */
  files: BundleFile[];
  links: BundleLink[];
  /** Of the programs in bin/, else as VERSIONS says. */
  arch?: 'amd64' | 'arm64';
  versions: Record<string, string>;
  commit?: string;
  /** Path → digest, as ARTIFACTS.sha256 lists them. */
  listed: ReadonlyMap<string, string>;
  /** Files that ARTIFACTS.sha256 does not list: they stay behind. */
  unlisted: string[];
  /** Everything that is wrong with it, one sentence each. */
  problems: string[];
}

type Architecture = NonNullable<Contents['arch']>;

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** `<sha256>  <path>` lines; a line of another form becomes a problem. */
export const listedIn = (text: string, shown: string, problems: string[]): Map<string, string> => {
  const listed = new Map<string, string>();
  for (const [at, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const found = /^([0-9a-f]{64}) [ *](?:\.\/)?(.*)$/.exec(line);
    const where = `${shown}:${at + 1}`;
    if (!found) problems.push(`${where}: expected '<sha256>  <path>'`);
    else if (!isInside(found[2]!)) problems.push(`${where}: the path '${found[2]}' leaves the bundle`);
    else if (listed.has(found[2]!)) problems.push(`${where}: '${found[2]}' is listed twice`);
    else listed.set(found[2]!, found[1]!);
  }
  return listed;
};

/** Machine of an ELF executable (e_machine, ELF specification): 62 is x86-64, 183 AArch64; undefined when it is no ELF. */
const machineOf = (path: string): number | undefined => {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    const head = Buffer.alloc(20);
    const got = readSync(fd, head, 0, head.length, 0);
    return got === head.length && head.readUInt32BE(0) === 0x7f454c46 ? head.readUInt16LE(18) : undefined;
  } finally {
    closeSync(fd);
  }
};
const MACHINES: Readonly<Record<number, Architecture>> = { 62: 'amd64', 183: 'arm64' };

const archOf = (
  directory: string,
  files: readonly BundleFile[],
  problems: string[],
): Architecture | undefined => {
  const found = new Set<Architecture>();
  for (const { path } of files.filter((one) => one.path.startsWith('bin/'))) {
    const machine = machineOf(join(directory, path));
    const arch = machine === undefined ? undefined : MACHINES[machine];
    if (machine === undefined)
      problems.push(`'${path}' is not a Linux executable (ELF); scripts belong into lib/`);
    else if (!arch) problems.push(`'${path}' is for another machine (ELF ${machine}) than amd64 and arm64`);
    else found.add(arch);
  }
  if (found.size > 1) problems.push('bin/ holds executables of more than one architecture');
  return [...found][0];
};

/** Walks a directory without following links. */
const walk = (directory: string, problems: string[]): { files: BundleFile[]; links: BundleLink[] } => {
  const files: BundleFile[] = [];
  const links: BundleLink[] = [];
  const below = (at: string): void => {
    for (const entry of readdirSync(join(directory, at), { withFileTypes: true })) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) below(path);
      else if (!isInside(path)) problems.push(`'${path}' has a name that no archive should carry`);
      else if (entry.isSymbolicLink()) links.push({ path, target: readlinkSync(join(directory, path)) });
      else if (entry.isFile()) {
        const { size, mode } = lstatSync(join(directory, path));
        files.push({ path, size, executable: (mode & 0o100) !== 0 });
      } else problems.push(`'${path}' is neither a file nor a directory nor a link`);
    }
  };
  below('');
  return { files, links };
};

/** What is said of a listed file that has another digest. */
export const changedProblem = (path: string): string =>
  `'${path}' does not have the digest that ARTIFACTS.sha256 gives it`;

/** Reads a directory as a bundle. `shown` is its name in messages. With `digests`, every listed file is hashed. */
export const readBundle = async (
  directory: string,
  shown = directory,
  { digests = true }: { digests?: boolean } = {},
): Promise<Contents> => {
  const problems: string[] = [];
  const contents: Contents = {
    directory,
    files: [],
    links: [],
    versions: {},
    listed: new Map(),
    unlisted: [],
    problems,
  };
  const missing = OWN_FILES.filter((name) => !existsSync(join(directory, name)));
  if (missing.length > 0) {
    problems.push(`bundle '${shown}' has no ${missing.join(', ')}; 'k8sbench bundle' makes one`);
    return contents;
  }
  const say = (problem: string): void => void problems.push(`bundle '${shown}': ${problem}`);
  const told: string[] = [];
  try {
    const { files, links } = walk(directory, told);
    const list = listedIn(readText(join(directory, 'ARTIFACTS.sha256')), 'ARTIFACTS.sha256', told);
    contents.listed = list;
    const isOwn = (path: string): boolean => (OWN_FILES as readonly string[]).includes(path);
    contents.files = files
      .filter(({ path }) => list.has(path) || isOwn(path))
      .toSorted((a, b) => bytewise(a.path, b.path));
    contents.unlisted = files.filter(({ path }) => !list.has(path) && !isOwn(path)).map(({ path }) => path);
    contents.links = links.toSorted((a, b) => bytewise(a.path, b.path));
    const targets = new Map(links.map(({ path, target }) => [path, target]));
    for (const link of links)
      if (leadsOut(link.path, targets))
        told.push(`the link '${link.path}' leaves the bundle: it points to '${link.target}'`);
    const there = new Set(files.map((one) => one.path));
    for (const [path, digest] of list) {
      if (!there.has(path)) told.push(`'${path}' is listed and not there`);
      else if (digests && (await fileDigest(join(directory, path))) !== digest)
        told.push(changedProblem(path));
    }
    contents.versions = versionsIn(readText(join(directory, 'VERSIONS')));
    const commit = readText(join(directory, 'COMMIT')).trim();
    if (commit !== '') contents.commit = commit;
    const listed = contents.files.filter((one) => !isOwn(one.path));
    const arch = archOf(directory, listed, told) ?? archInVersions(contents.versions['arch']);
    if (arch) contents.arch = arch;
    else if (!listed.some((one) => one.path.startsWith('bin/')))
      told.push("nothing says which architecture it is for: bin/ holds no program, and VERSIONS no 'arch='");
  } catch (error) {
    told.push(cause(error));
  }
  told.forEach(say);
  return contents;
};

const archInVersions = (word: string | undefined): Architecture | undefined =>
  word === 'amd64' || word === 'arm64' ? word : undefined;

/** Programs of the base image that a bare command may name. */
const BASE = new Set(['node']);

/** Which programs of the targets are not in the bundle, one sentence each. Words with other placeholders are the session's. */
export const missingPrograms = ({ files, links }: Contents, targets: readonly Target[]): string[] => {
  const paths = [...files, ...links].map((one) => one.path);
  const has = (path: string): boolean =>
    paths.includes(path) || paths.some((one) => one.startsWith(`${path.replace(/\/$/, '')}/`));
  const problems = new Set<string>();
  for (const target of targets)
    for (const command of [target.seed, target.sample, target.command, target.prepare])
      for (const [at, word] of (command ?? []).entries()) {
        for (const part of rootPathsIn(word)) {
          const path = settledPath(part);
          if (path && !has(path))
            problems.add(`target '${target.name}' names '{root}/${path}', which the bundle does not list`);
        }
        if (at === 0 && !word.includes('/') && !word.includes('{') && !BASE.has(word) && !has(`bin/${word}`))
          problems.add(
            `target '${target.name}' starts '${word}', which is neither in the bundle's bin/ nor the base image's`,
          );
      }
  return [...problems];
};

/** Files that a process tree writes outside of its home: those it holds open, and those that appeared. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Proc } from './tree.ts';

/** O_ACCMODE of the flags in fdinfo, which are octal. */
const isWritable = (fdinfo: string | undefined): boolean => {
  const flags = /^flags:\s*([0-7]+)$/m.exec(fdinfo ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
};

/** Whether a link of an open file names a file of a disk: pipes, sockets, devices, memory and what was removed are none. */
const isFile = (link: string): boolean =>
  link.startsWith('/') && !/^\/(?:dev|proc|sys)\/|^\/memfd:|^\/(?:SYSV|\[)| \(deleted\)$/.test(link);

const within = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
};

/** Of a process's open files, those outside of `allowed` that it may write. */
export const writesOutside = (
  proc: Proc,
  pid: number,
  files: ReadonlyMap<string, string>,
  allowed: readonly string[],
  link: (path: string) => string | undefined = linkOf,
): string[] =>
  [...files]
    .filter(([, file]) => isFile(file) && !allowed.some((one) => within(file, one)))
    // A number may be another file's by now, whose flags these then are.
    .filter(
      ([fd, file]) =>
        isWritable(proc.read(`/proc/${pid}/fdinfo/${fd}`)) && link(`/proc/${pid}/fd/${fd}`) === file,
    )
    .map(([, file]) => file);

/** Names in a directory that belong to this user; none when it can't be read. */
const namesIn = (directory: string): string[] => {
  try {
    const own = process.getuid?.();
    return readdirSync(directory).filter((name) => {
      const uid = lstatSync(join(directory, name), { throwIfNoEntry: false })?.uid;
      return uid !== undefined && (own === undefined || uid === own);
    });
  } catch {
    return [];
  }
};

/** What was in places where programs like to write although they were told another home. */
export class Places {
  readonly #before: Map<string, Set<string>>;

  constructor(directories: readonly string[]) {
    this.#before = new Map(directories.map((one) => [one, new Set(namesIn(one))]));
  }

  /** Entries that weren't there before. */
  appeared(): string[] {
    return [...this.#before].flatMap(([directory, before]) =>
      namesIn(directory)
        .filter((name) => !before.has(name))
        .map((name) => join(directory, name)),
    );
  }
}

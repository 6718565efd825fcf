/**
 * A bundle as one tar archive: paths sorted, fixed times, no owners, two modes; the same bytes on every machine. Its identity
 * is the SHA-256 of these bytes, before any compression (spec §8).
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Headers } from 'tar-stream';
// @ts-expect-error the library's encoder of one header has no types of its own: it makes streams, and files are read here without
import * as headers from 'tar-stream/headers.js';
import { cause, failed } from '../failure.ts';
import type { BundleFile, BundleLink, Contents } from './contents.ts';

const { encode, encodePax } = headers as {
  /** null: something of it needs a pax header. */
  encode(header: Headers): Buffer | null;
  encodePax(header: Pick<Headers, 'name' | 'linkname'>): Buffer;
};

const EPOCH = new Date(0);
/** Bytes taken at once: enough that the calls don't count. */
const BLOCK = 1 << 20;
const TAR_BLOCK = 512;
const NOTHING = Buffer.alloc(2 * TAR_BLOCK);

const padding = (size: number): Buffer => NOTHING.subarray(0, (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);

/** A directory, by its path with a slash at its end. */
interface BundleDirectory {
  path: string;
  directory: true;
}

type Entry = BundleFile | BundleLink | BundleDirectory;

/** The blocks before an entry's content; long and non-ASCII names and targets stand in a pax header of their own (POSIX.1-2001). */
const headOf = (entry: Entry, under = ''): Buffer => {
  const link = 'target' in entry;
  const name = 'directory' in entry ? entry.path : `${under}${entry.path}`;
  const header: Headers = {
    name,
    mtime: EPOCH,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    ...(link
      ? { type: 'symlink', linkname: entry.target, mode: 0o777, size: 0 }
      : 'directory' in entry
        ? { type: 'directory', mode: 0o755, size: 0 }
        : { type: 'file', size: entry.size, mode: entry.executable ? 0o755 : 0o644 }),
  };
  const plain = encode(header);
  if (plain) return plain;
  const pax = encodePax({ name, linkname: link ? entry.target : null });
  const rest: Headers = { ...header, name: 'PaxHeader', ...(link ? { linkname: 'PaxHeader' } : {}) };
  return Buffer.concat([
    encode({ ...rest, type: 'pax-header', size: pax.length })!,
    pax,
    padding(pax.length),
    encode(rest)!,
  ]);
};

const inOrder = <T extends { path: string }>(entries: readonly T[]): T[] =>
  entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

/** Everything in the archive, in its order. */
const entriesOf = ({ files, links }: Contents): (BundleFile | BundleLink)[] => inOrder([...files, ...links]);

/** The same below a directory of the archive, `under`, which ends with a slash; each directory stands before what it holds. */
const entriesBelow = (contents: Contents, under: string): Entry[] => {
  const files = entriesOf(contents);
  const directories = new Set<string>();
  for (const { path } of files)
    for (let at = 1, parts = `${under}${path}`.split('/'); at < parts.length; at++)
      directories.add(`${parts.slice(0, at).join('/')}/`);
  return inOrder([
    ...[...directories].map((path) => ({ path, entry: { path, directory: true as const } })),
    ...files.map((entry) => ({ path: `${under}${entry.path}`, entry })),
  ]).map(({ entry }) => entry);
};

/** Bytes of the archive: each entry's head and content in blocks of 512, two empty blocks at the end. */
export const archiveSize = (contents: Contents): number =>
  entriesOf(contents).reduce(
    (sum, one) =>
      sum + headOf(one).length + ('target' in one ? 0 : Math.ceil(one.size / TAR_BLOCK) * TAR_BLOCK),
    2 * TAR_BLOCK,
  );

interface Opened {
  file: BundleFile;
  fd: number;
  left: number;
  /** When its digest is wanted. */
  hash: Bun.CryptoHasher | undefined;
}

/** The archive's bytes from beginning to end, into buffers of the caller's. A file that changes meanwhile is an error. */
export class ArchiveReader {
  readonly #directory: string;
  readonly #entries: Entry[];
  readonly #under: string;
  readonly #listed: ReadonlyMap<string, string> | undefined;
  #at = 0;
  #waiting: Uint8Array = new Uint8Array();
  #ended = false;
  #open: Opened | undefined;
  /** Files that don't have the digest that the list gives them; complete at the end. */
  readonly changed: string[] = [];

  /** With `digests`, each listed file is hashed on the way, too: {@link changed}. With `under`, all of it stands below that directory. */
  constructor(
    contents: Contents,
    { digests = false, under = '' }: { digests?: boolean; under?: string } = {},
  ) {
    this.#directory = contents.directory;
    this.#under = under;
    this.#entries = under === '' ? entriesOf(contents) : entriesBelow(contents, under);
    this.#listed = digests ? contents.listed : undefined;
  }

  /** Writes what comes next; gives how much that is, 0 at the end. Fills the buffer unless it is the end. */
  fill(into: Uint8Array): number {
    let at = 0;
    while (at < into.length) {
      if (this.#waiting.length > 0) {
        const part = this.#waiting.subarray(0, into.length - at);
        into.set(part, at);
        at += part.length;
        this.#waiting = this.#waiting.subarray(part.length);
      } else if (this.#open) at += this.#content(this.#open, into, at);
      else if (this.#at < this.#entries.length) this.#next(this.#entries[this.#at++]!);
      else if (this.#ended) break;
      else {
        this.#waiting = NOTHING;
        this.#ended = true;
      }
    }
    return at;
  }

  /** Gives back what is open, when the rest is not wanted. */
  close(): void {
    if (this.#open) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  #refuse(path: string, why: string): Error {
    this.close();
    return failed(`can't pack '${path}': ${why}; does something change the bundle?`);
  }

  #next(entry: Entry): void {
    this.#waiting = headOf(entry, this.#under);
    if ('target' in entry || 'directory' in entry) return;
    let fd: number;
    try {
      fd = openSync(join(this.#directory, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      this.close();
      throw failed(`can't read '${entry.path}': ${cause(error)}`);
    }
    const wanted = this.#listed?.get(entry.path);
    const hash = wanted === undefined ? undefined : new Bun.CryptoHasher('sha256');
    this.#open = { file: entry, fd, left: entry.size, hash };
    const about = fstatSync(fd);
    if (!about.isFile()) throw this.#refuse(entry.path, 'it is no file any more');
    if (entry.size === 0) this.#finish();
  }

  #content(open: Opened, into: Uint8Array, at: number): number {
    const { file, fd, hash } = open;
    const wanted = Math.min(open.left, into.length - at);
    const got = wanted === 0 ? 0 : readSync(fd, into, at, wanted, null);
    if (got === 0) throw this.#refuse(file.path, `it ended ${open.left} bytes early`);
    hash?.update(into.subarray(at, at + got));
    open.left -= got;
    if (open.left === 0) this.#finish();
    return got;
  }

  #finish(): void {
    const { file, fd, hash } = this.#open!;
    const { size } = fstatSync(fd);
    if (size !== file.size) throw this.#refuse(file.path, `it had ${file.size} bytes and has ${size} now`);
    if (hash && hash.digest('hex') !== this.#listed!.get(file.path)) this.changed.push(file.path);
    this.close();
    this.#waiting =
      this.#waiting.length === 0 ? padding(file.size) : Buffer.concat([this.#waiting, padding(file.size)]);
  }
}

/** The archive's bytes, made as they are asked for; a part stays as it is. */
export async function* archiveOf(contents: Contents): AsyncGenerator<Uint8Array> {
  const reader = new ArchiveReader(contents);
  try {
    for (;;) {
      const block = Buffer.allocUnsafe(BLOCK);
      const got = reader.fill(block);
      if (got === 0) return;
      yield block.subarray(0, got);
    }
  } finally {
    reader.close();
  }
}

/** The bundle's identity, and with `digests` the listed files that aren't as they are listed: everything is read once. */
export const archiveDigests = async (
  contents: Contents,
  how: { digests?: boolean } = {},
): Promise<{ identity: string; changed: string[] }> => {
  const reader = new ArchiveReader(contents, how);
  const hash = new Bun.CryptoHasher('sha256');
  const block = Buffer.allocUnsafe(BLOCK);
  for (let got = reader.fill(block); got > 0; got = reader.fill(block)) {
    hash.update(block.subarray(0, got));
    // ^C is heard between blocks.
    await setImmediate();
  }
  return { identity: hash.digest('hex'), changed: reader.changed };
};

/** The bundle's identity. */
export const archiveDigest = async (contents: Contents): Promise<string> =>
  (await archiveDigests(contents)).identity;

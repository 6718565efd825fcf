/** Takes named files out of an archive that somebody published. The whole archive must be one that could be unpacked safely. */
import {
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Headers } from 'tar-stream';
import { leadsOut } from '../../shared/bundle/links.ts';
import { cause, failed, Failure } from '../../shared/failure.ts';

/** Most bytes that one compressed byte may become: deflate itself ends near 1032, programs stay below 20. */
const RATIO = 200;
/** Most bytes and members of an archive. */
const LARGEST = 8 * 2 ** 30;
const MOST_MEMBERS = 500_000;

const KINDS = new Set(['file', 'directory', 'symlink', 'link', 'contiguous-file', 'pax-global-header']);

/** A member's path without `./` and a directory's last slash; undefined: it would leave the place it is unpacked into. */
const insideOf = (name: string): string | undefined => {
  if (name.startsWith('/') || /[\0\\]/.test(name)) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
};

/** Where a link leads, from the archive's top; undefined: outside. */
const leadsTo = (path: string, target: string, hard: boolean): string | undefined => {
  if (target.startsWith('/') || target.includes('\0')) return undefined;
  const parts = hard ? [] : path.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
};

/** The directories that a path stands in, from the archive's top. */
const above = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'));

/** Judges members one after another; each problem names the member. */
class Members {
  readonly #seen = new Map<string, 'link' | 'other'>();
  /** Symbolic links → where they point. */
  readonly #links = new Map<string, string>();

  /** The path of a member that may be unpacked, or what is wrong with it. */
  judge(header: Headers): { path: string } | { problem: string } {
    const { name, type, linkname } = header;
    const problem = (what: string) => ({ problem: `member '${name}' ${what}` });
    const path = insideOf(name);
    if (path === undefined) return problem('leaves the place it is unpacked into');
    if (!KINDS.has(type ?? ''))
      return problem(`is a ${type ?? 'thing of unknown kind'}; files, directories and links are read`);
    // A pax header says what it likes; the reader waits for ever for less than nothing.
    if (!Number.isSafeInteger(header.size) || header.size! < 0) return problem('has a length that is none');
    const pax = (header as { pax?: Record<string, string> }).pax ?? {};
    if (Object.keys(pax).some((key) => key.startsWith('GNU.sparse')))
      return problem('is sparse; its bytes are not as they stand in the archive');
    const through = above(path).find((one) => this.#seen.get(one) === 'link');
    if (through !== undefined) return problem(`goes through the link '${through}'`);
    const before = this.#seen.get(path);
    if (before === 'link' || (before !== undefined && type !== 'directory')) return problem('is there twice');
    const link = type === 'symlink' || type === 'link';
    if (link) {
      const to = leadsTo(path, linkname ?? '', type === 'link');
      if (to === undefined) return problem(`is a link out of the archive, to '${linkname ?? ''}'`);
      // What is copied for a hard link must be a file of the archive, never what a symbolic link leads to.
      const soft = type === 'link' ? [...above(to), to].find((one) => this.#links.has(one)) : undefined;
      if (soft !== undefined) return problem(`is a hard link through the link '${soft}'`);
    }
    if (type === 'symlink') this.#links.set(path, linkname ?? '');
    if (path !== '') this.#seen.set(path, link ? 'link' : 'other');
    if (this.#seen.size > MOST_MEMBERS) return problem(`is one of more than ${MOST_MEMBERS}`);
    return { path };
  }

  /** What is wrong once all are known: links that lead out through others. */
  atEnd(): string | undefined {
    const out = [...this.#links.keys()].find((path) => leadsOut(path, this.#links));
    return out === undefined
      ? undefined
      : `member '${out}' is a link that leads out of the archive through others, to '${this.#links.get(out)}'`;
  }
}

/** Looks that an archive is whole: its last two blocks are empty. A cut between two members shows nowhere else. */
const endOf = (last: Buffer, size: number): string | undefined =>
  size % 512 !== 0 || last.length < 1024 || last.some((byte) => byte !== 0)
    ? 'it is cut: the two empty blocks at its end are missing'
    : undefined;

/** Most bytes of a header that stands before a member: names are shorter. The reader keeps all of it. */
const LONGEST_HEADER = 4 << 20;

/** Bytes that the reader holds back; it has no other word for it. */
const heldBy = (reader: Extract): number =>
  (reader as unknown as { _buffer?: { buffered?: number } })._buffer?.buffered ?? 0;

/** Bytes after decompression, bounded, their end looked at. */
async function* decompressed(
  path: string,
  shown: string,
  size: number,
  reader: Extract,
): AsyncGenerator<Buffer> {
  const source = createReadStream(path);
  const stream = /\.(tgz|tar\.gz)$/.test(shown) ? source.pipe(createGunzip()) : source;
  source.on('error', (error) => stream.destroy(error));
  let total = 0;
  let last = Buffer.alloc(0);
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      total += part.length;
      if (total > Math.min(LARGEST, size * RATIO))
        throw failed(`it becomes more than ${RATIO} times its size, or more than ${LARGEST} bytes`);
      last = Buffer.concat([last, part]).subarray(-1024);
      yield part;
      if (heldBy(reader) > LONGEST_HEADER)
        throw failed(`a header of it is longer than ${LONGEST_HEADER} bytes`);
    }
  } finally {
    // Whoever ends early ends the decompression alone; the file would stay open.
    source.destroy();
  }
  const problem = endOf(last, total);
  if (problem) throw failed(problem);
}

/** One member that may be unpacked. */
interface Member {
  /** From the archive's top. */
  path: string;
  header: Headers;
  content: Readable;
}

/**
 * Reads an archive to its end, one member after another; `take` uses up a member's content or leaves it. `shown` names the
 * archive, and its ending how it is compressed; `size` is its length in bytes. Every member is judged, also those that
 * nobody wants.
 */
const readMembers = async (
  path: string,
  shown: string,
  size: number,
  take: (member: Member) => Promise<void>,
): Promise<void> => {
  if (!/\.(tgz|tar\.gz|tar)$/.test(shown))
    throw failed(`archive '${shown}': expected a .tar.gz, .tgz or .tar`);
  const members = new Members();
  const reader = extract();
  const feed = pipeline(decompressed(path, shown, size, reader), reader);
  // Told where the members are read.
  feed.catch(() => undefined);
  try {
    for await (const entry of reader) {
      const judged = members.judge(entry.header);
      if ('problem' in judged) throw failed(judged.problem);
      await take({ path: judged.path, header: entry.header, content: entry as unknown as Readable });
      entry.resume();
    }
    await feed;
    const problem = members.atEnd();
    if (problem !== undefined) throw failed(problem);
  } catch (error) {
    const words = error instanceof Failure ? error.problems : [cause(error)];
    throw failed(words.map((one) => `archive '${shown}': ${one}`));
  }
};

/** Writes members of an archive to files; nothing else of it is kept. The archive is judged as {@link readMembers} says. */
export const takeMembers = async (
  path: string,
  shown: string,
  size: number,
  wanted: ReadonlyMap<string, string>,
): Promise<void> => {
  const left = new Set(wanted.keys());
  await readMembers(path, shown, size, async (member) => {
    const to = wanted.get(member.path);
    if (to === undefined) return;
    if (member.header.type !== 'file') throw failed(`member '${member.path}' is wanted and is no file`);
    await pipeline(member.content, createWriteStream(to, { flags: 'wx', mode: 0o755 }));
    left.delete(member.path);
  });
  if (left.size > 0) throw failed([...left].map((one) => `archive '${shown}' has no member '${one}'`));
};

/** Writes everything below a directory of an archive below `out`, links too; nothing else of it is kept. */
export const takeTree = async (
  path: string,
  shown: string,
  size: number,
  directory: string,
  out: string,
): Promise<void> => {
  let found = 0;
  await readMembers(path, shown, size, async ({ path: name, header, content }) => {
    if (name !== directory && !name.startsWith(`${directory}/`)) return;
    found++;
    const to = join(out, name);
    if (header.type === 'directory') return void mkdirSync(to, { recursive: true });
    mkdirSync(dirname(to), { recursive: true });
    const target = header.linkname ?? '';
    // A link is made as it is: no later member goes through one.
    if (header.type === 'symlink') symlinkSync(target, to);
    else if (header.type === 'link')
      copyFileSync(join(out, leadsTo(name, target, true)!), to, constants.COPYFILE_EXCL);
    else {
      const mode = ((header.mode ?? 0) & 0o100) === 0 ? 0o644 : 0o755;
      await pipeline(content, createWriteStream(to, { flags: 'wx', mode }));
    }
  });
  if (found === 0) throw failed(`archive '${shown}' has nothing below '${directory}/'`);
};

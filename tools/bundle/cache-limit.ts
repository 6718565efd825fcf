/** How much the cache holds, and what of it goes: what was used longest ago, until the rest fits. Nothing goes while a build is at work. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { amount } from '../../schemas/primitives.ts';
import { usage } from '../../shared/failure.ts';
import { shareFile, tryLockFile } from '../../shared/locks.ts';
import { parseQuantity, unitsOf } from '../../shared/quantity.ts';
import { ABOUT, ARCHIVES, ARTIFACTS, TREE } from './cache.ts';
import { listOf } from './tree.ts';

/** Something in the cache that can be made or fetched again. */
export interface Entry {
  kind: 'artifact' | 'archive';
  /** An artifact's name in its recipe; an archive's digest. */
  name: string;
  /** Its place in the cache. */
  path: string;
  size_bytes: number;
  used_at: string;
}

/** The most that the cache holds after a build, unless the environment says otherwise: some ten bundles with agents. */
const MOST = '10Gi';
const LIMIT = 'K8SBENCH_CACHE_MAX';

/** A number of bytes as people write it: `10Gi`, `500M`, `0`. `from` says where it was written. */
export const bytesIn = (given: string, from: string): number => {
  const quantity = parseQuantity(given);
  if (quantity === undefined || quantity < 0n)
    throw usage(`${from}: expected a size such as 10Gi, 500M or 0, found '${given}'`);
  return unitsOf(quantity);
};

/** The most bytes that a build leaves in the cache. */
export const limitOf = (env: Readonly<Record<string, string | undefined>>): number =>
  bytesIn(env[LIMIT] || MOST, `$${LIMIT}`);

const namesIn = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);

const aboutSchema = v.object({ name: v.string(), size_bytes: amount });

/** What an artifact says of itself; undefined when that is not there, or torn by a crash. */
const aboutOf = (path: string): v.InferOutput<typeof aboutSchema> | undefined => {
  if (!existsSync(path)) return undefined;
  try {
    const read = v.safeParse(aboutSchema, JSON.parse(readFileSync(path, 'utf8')));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
};

const artifactOf = async (path: string): Promise<Entry> => {
  const about = join(path, ABOUT);
  const known = aboutOf(about);
  if (known) return { kind: 'artifact', ...known, path, used_at: statSync(about).mtime.toISOString() };
  // Kept by an earlier version, or left in pieces.
  const files = existsSync(join(path, TREE)) ? await listOf(join(path, TREE)) : [];
  const size_bytes = files.reduce((sum, one) => sum + one.size, 0);
  return { kind: 'artifact', name: '', path, size_bytes, used_at: statSync(path).mtime.toISOString() };
};

const archiveOf = (path: string, name: string): Entry => {
  const { size, mtime } = statSync(path);
  return { kind: 'archive', name, path, size_bytes: size, used_at: mtime.toISOString() };
};

/** Everything in the cache that takes room, what was used last first. */
export const entriesOf = async (cache: string): Promise<Entry[]> => {
  const found: Entry[] = [];
  for (const name of namesIn(join(cache, ARTIFACTS)))
    try {
      found.push(await artifactOf(join(cache, ARTIFACTS, name)));
    } catch (error) {
      // A build beside this one took it away.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  for (const name of namesIn(join(cache, ARCHIVES)))
    if (/^[0-9a-f]{64}$/.test(name)) found.push(archiveOf(join(cache, ARCHIVES, name), name));
  return found.toSorted((a, b) => (a.used_at < b.used_at ? 1 : a.used_at > b.used_at ? -1 : 0));
};

export const sizeOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, one) => sum + one.size_bytes, 0);

/** What has to go so that the rest is no more than `most` bytes: what was used longest ago. Pure. */
export const surplusOf = (entries: readonly Entry[], most: number): Entry[] => {
  let room = most;
  let full = most === 0;
  return entries.filter(({ size_bytes }) => {
    full ||= size_bytes > room;
    room -= size_bytes;
    return full;
  });
};

const LOCK = 'lock';

const locked = async <T>(cache: string, use: (fd: number) => Promise<T>): Promise<T> => {
  mkdirSync(cache, { recursive: true });
  const fd = openSync(join(cache, LOCK), 'a');
  try {
    return await use(fd);
  } finally {
    closeSync(fd);
  }
};

/** Runs something that reads the cache: meanwhile nothing of it is removed. */
export const whileInUse = <T>(cache: string, use: () => Promise<T>): Promise<T> =>
  locked(cache, async (fd) => {
    shareFile(fd);
    return use();
  });

/** Removes what has to go for `most` bytes and gives it; undefined: a build is at work, nothing was removed. */
export const prune = (cache: string, most: number): Promise<Entry[] | undefined> =>
  locked(cache, async (fd) => {
    if (!tryLockFile(fd)) return undefined;
    const surplus = surplusOf(await entriesOf(cache), most);
    for (const { path } of surplus) {
      // Whoever is killed here leaves something whole, or something that no build looks for.
      const away = `${path}.gone`;
      rmSync(away, { recursive: true, force: true });
      renameSync(path, away);
      rmSync(away, { recursive: true, force: true });
    }
    return surplus;
  });

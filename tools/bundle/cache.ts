/** Artifacts that were built before, by the digest of everything that determines them. What isn't as it was left is built anew. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { writeAtomically } from '../../shared/files.ts';
import { withOwnDirectory } from './own-directory.ts';
import { type BuiltFile, listOf, normalise } from './tree.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Directory of our own for what can be made again: the user's cache, else a temporary one. */
export const cacheOf = (env: Env): string => {
  const given = env['XDG_CACHE_HOME'] ?? '';
  const home = env['HOME'] || homedir();
  const user = isAbsolute(given) ? given : isAbsolute(home) ? join(home, '.cache') : undefined;
  return user === undefined
    ? join(env['TMPDIR'] || tmpdir(), `k8sbench-${process.getuid?.() ?? 'user'}`, 'bundle')
    : join(user, 'k8sbench', 'bundle');
};

/** An artifact's files on disk. */
export interface Built {
  directory: string;
  files: BuiltFile[];
}

/** Where artifacts are, in the cache; each in a directory named by its key. */
export const ARTIFACTS = 'artifacts';
/** Where downloaded archives are, in the cache; each a file named by its digest. */
export const ARCHIVES = 'archives';
/** What an artifact is, for people; its time is that of its last use. */
export const ABOUT = 'about.json';
const LIST = 'files.json';
export const TREE = 'tree';

/** Marks something in the cache as used now. What somebody else removed meanwhile is not missed here. */
export const markUsed = (path: string): void => {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // A cache that can't be written is still read.
  }
};

const intact = async (entry: string): Promise<Built | undefined> => {
  try {
    const files = await listOf(join(entry, TREE));
    return JSON.stringify(files) === readFileSync(join(entry, LIST), 'utf8')
      ? { directory: join(entry, TREE), files }
      : undefined;
  } catch {
    return undefined;
  }
};

/** What tells an artifact from others, and what people call it. */
interface Known {
  key: string;
  name: string;
}

const writeAbout = (entry: string, { name }: Known, files: readonly BuiltFile[]): void => {
  const size_bytes = files.reduce((sum, one) => sum + one.size, 0);
  writeAtomically(join(entry, ABOUT), JSON.stringify({ name, size_bytes }));
};

/** An artifact that is taken as it is: it was used now, and is called so. */
const noteUse = (entry: string, known: Known, files: readonly BuiltFile[]): void => {
  try {
    writeAbout(entry, known, files);
  } catch {
    // As above: a cache that can't be written is still read.
  }
};

/** An artifact that is there, as it was left; it was used now. */
export const cached = async (cache: string, known: Known): Promise<Built | undefined> => {
  const entry = join(cache, ARTIFACTS, known.key);
  const built = existsSync(entry) ? await intact(entry) : undefined;
  if (built) noteUse(entry, known, built.files);
  return built;
};

const isTaken = (error: unknown): boolean =>
  ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Puts a finished artifact into its place. Another build may have been faster: what is there and whole counts, because
 * somebody may be copying it. What is there in pieces is moved aside.
 */
const keep = async (result: string, entry: string, files: BuiltFile[]): Promise<Built> => {
  for (;;)
    try {
      renameSync(result, entry);
      return { directory: join(entry, TREE), files };
    } catch (error) {
      if (!isTaken(error)) throw error;
      const theirs = await intact(entry);
      if (theirs) return theirs;
      const gone = `${entry}.${crypto.randomUUID()}.gone`;
      try {
        renameSync(entry, gone);
      } catch (nobody) {
        // Another build moved it aside at the same moment.
        if ((nobody as NodeJS.ErrnoException).code !== 'ENOENT') throw nobody;
      }
      rmSync(gone, { recursive: true, force: true });
    }
};

/** Builds an artifact in a place of its own and keeps it. It appears whole or not at all. */
export const buildInto = async (
  cache: string,
  known: Known,
  build: (place: { sources: string; out: string; scratch: string }) => Promise<void>,
): Promise<Built> => {
  const artifacts = join(cache, ARTIFACTS);
  mkdirSync(artifacts, { recursive: true });
  return withOwnDirectory(join(cache, 'building'), async (fresh) => {
    const place = {
      sources: join(fresh, 'sources'),
      out: join(fresh, 'result', TREE),
      scratch: join(fresh, 'scratch'),
    };
    for (const one of Object.values(place)) mkdirSync(one, { recursive: true });
    await build(place);
    normalise(place.out);
    const files = await listOf(place.out);
    writeFileSync(join(fresh, 'result', LIST), JSON.stringify(files));
    writeAbout(join(fresh, 'result'), known, files);
    return keep(join(fresh, 'result'), join(artifacts, known.key), files);
  });
};

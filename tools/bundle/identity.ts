/** A bundle's identity without packing it again: its lists determine it, once every file was found to be as they say. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { archiveDigest } from '../../shared/bundle/archive.ts';
import { type Contents, OWN_FILES } from '../../shared/bundle/contents.ts';
import { sha256, writeAtomically } from '../../shared/files.ts';
import { cacheOf } from './cache.ts';

/** The identity of a bundle whose digests were just checked; from the cache when it was computed before. */
export const identityOf = async (
  { directory, files, links, ...rest }: Contents,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> => {
  const lists = OWN_FILES.map((name) => readFileSync(join(directory, name), 'utf8'));
  const determines = [lists, files.map(({ path, executable }) => [path, executable]), links];
  const path = join(cacheOf(env), 'identities', sha256(JSON.stringify(determines)));
  const known = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (/^[0-9a-f]{64}$/.test(known)) return known;
  const identity = await archiveDigest({ directory, files, links, ...rest });
  mkdirSync(dirname(path), { recursive: true });
  writeAtomically(path, identity);
  return identity;
};

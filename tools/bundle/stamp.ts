/**
 * Whether a bundle is as it was when it was last checked, without reading it again. What the kernel says of each file
 * (size, times, place) tells: the time of its last change (ctime) can't be set back by who writes it.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256, writeAtomically } from '../../shared/files.ts';
import { cacheOf } from './cache.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Longest tick of a file system's clock, ms: two changes within one have the same time. */
const TICK_MS = 20;

/** What the kernel says of everything in a directory, as a digest. */
const stateOf = (directory: string): string => {
  const hash = new Bun.CryptoHasher('sha256');
  const below = (at: string): void => {
    const entries = readdirSync(join(directory, at), { withFileTypes: true });
    for (const one of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = at === '' ? one.name : `${at}/${one.name}`;
      if (one.isDirectory()) {
        below(path);
        continue;
      }
      const { mode, size, ino, dev, mtimeNs, ctimeNs } = lstatSync(join(directory, path), { bigint: true });
      hash.update([path, mode, size, ino, dev, mtimeNs, ctimeNs, ''].join('\0'));
    }
  };
  below('');
  return hash.digest('hex');
};

const placeOf = (directory: string, env: Env): string =>
  join(cacheOf(env), 'checked', sha256(realpathSync(directory)));

/** The identity that a bundle was found to have, when nothing of it changed since. */
export const knownIdentity = (directory: string, env: Env): string | undefined => {
  const place = placeOf(directory, env);
  let written = '';
  try {
    written = readFileSync(place, 'utf8');
  } catch {
    // Nothing is known of it, as when it was never checked.
    return undefined;
  }
  const [state, identity] = written.split(' ');
  return state === stateOf(directory) && /^[0-9a-f]{64}$/.test(identity ?? '') ? identity : undefined;
};

/** Taken before a bundle is checked: a change while it is read then shows. */
export const stateBefore = async (directory: string): Promise<string> => {
  const state = stateOf(directory);
  await Bun.sleep(TICK_MS);
  return state;
};

/** Remembers the identity of a bundle that was checked in this state. */
export const remember = (directory: string, state: string, identity: string, env: Env): void => {
  const place = placeOf(directory, env);
  mkdirSync(dirname(place), { recursive: true });
  writeAtomically(place, `${state} ${identity}`);
};

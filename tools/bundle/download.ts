/** Archives by address, size and digest: from a copy that is here, else from the cache, else from the network; never without its digest. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PinnedArchive } from '../../schemas/recipe.ts';
import { EXIT } from '../../shared/exit.ts';
import { cause, failed, Failure } from '../../shared/failure.ts';
import { sha256File, streamAtomically } from '../../shared/files.ts';
import { Silence } from '../../shared/silence.ts';
import type { World } from '../../shared/world.ts';
import { ARCHIVES, cacheOf, markUsed } from './cache.ts';

/** The last part of an address: what a copy of it is called. */
export const archiveName = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');

const isIt = async (path: string, { size, sha256 }: PinnedArchive): Promise<boolean> =>
  statSync(path).size === size && (await sha256File(path)) === sha256;

/** The largest archive that is taken without a pinned size. */
const LARGEST = 4 * 2 ** 30;

/** A response, and the watch over how long nothing of it comes. */
interface Opened {
  response: Response;
  silence: Silence;
}

/** Bytes of a response, `most` at most. */
async function* bytesOf(
  { response, silence }: Opened,
  url: string,
  most: number,
): AsyncGenerator<Uint8Array> {
  let got = 0;
  for await (const part of silence.parts(response)) {
    got += part.length;
    if (got > most)
      throw failed(
        `'${url}' is longer than ${most} bytes, the most that is taken of it; nothing of it is kept`,
      );
    yield part;
  }
}

/** The same, which must be what is pinned: an error at its end otherwise, so that nothing of it is kept. */
async function* pinnedBytes(
  opened: Opened,
  { url, size, sha256: digest }: PinnedArchive,
): AsyncGenerator<Uint8Array> {
  const hash = new Bun.CryptoHasher('sha256');
  let got = 0;
  for await (const part of bytesOf(opened, url, size)) {
    got += part.length;
    hash.update(part);
    yield part;
  }
  const is = hash.digest('hex');
  if (got !== size || is !== digest)
    throw failed(`'${url}' has ${got} bytes and SHA-256 ${is}; pinned are ${size} and ${digest}`);
}

/** Most places that one address may lead to, one after another. */
const HOPS = 10;

/** An answer over https at each hop: what one of them sends elsewhere could be sent anywhere. */
const open = async (url: string, { signal }: Silence): Promise<Response> => {
  let at = url;
  for (let hop = 0; hop <= HOPS; hop++) {
    const response = await fetch(at, {
      signal,
      redirect: 'manual',
      headers: { 'accept-encoding': 'identity' },
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    at = URL.canParse(location, at) ? new URL(location, at).href : location;
    if (!at.startsWith('https:')) throw failed(`'${url}' leads to '${at}', which is not https`);
  }
  throw failed(`'${url}' leads from one place to another, more than ${HOPS} times`);
};

const unreachable = (url: string, error: unknown, { interrupted }: World): Failure => {
  if (interrupted.aborted)
    return new Failure(
      EXIT.interrupted,
      `interrupted by ${String(interrupted.reason)} while '${url}' was downloaded`,
    );
  return error instanceof Failure
    ? error
    : failed(
        `can't download '${url}': ${cause(error)}; '--archives DIR' takes a copy named '${archiveName(url)}'`,
      );
};

/** Asks for an address and hands the answer to `take`; nothing of it is waited for any longer afterwards. */
const download = async <T>(url: string, world: World, take: (opened: Opened) => Promise<T>): Promise<T> => {
  const silence = new Silence(world.interrupted);
  try {
    return await take({ response: await open(url, silence), silence });
  } catch (error) {
    throw unreachable(url, error, world);
  } finally {
    silence.end();
  }
};

/** A copy of an archive in the directory that the command line names. */
const copyIn = (archives: string | undefined, url: string, world: World): string | undefined => {
  if (archives === undefined) return undefined;
  const copy = join(resolve(world.cwd, archives), archiveName(url));
  return existsSync(copy) ? copy : undefined;
};

/** An archive that nothing is known of yet: the path of its copy, or `to`; undefined when its address has none (404). */
export const fetchArchive = async (
  url: string,
  to: string,
  { world, archives, say }: { world: World; archives?: string; say(text: string): void },
): Promise<string | undefined> => {
  const copy = copyIn(archives, url, world);
  if (copy !== undefined) return copy;
  say(`downloading ${url}`);
  return download(url, world, async (opened) => {
    const { response } = opened;
    if (response.status === 404 || response.status === 410) return undefined;
    if (!response.ok || !response.body) throw failed(`'${url}' answered ${response.status}`);
    await streamAtomically(to, bytesOf(opened, url, LARGEST));
    return to;
  });
};

/** A file that has the pinned size and digest. `copyOfIt` names the only place that it may come from. */
export const archiveFile = async (
  pinned: PinnedArchive,
  { world, archives }: { world: World; archives?: string },
  say: (text: string) => void,
  copyOfIt?: string,
): Promise<string> => {
  const { url, size } = pinned;
  if (copyOfIt !== undefined) {
    const path = resolve(world.cwd, copyOfIt);
    if (existsSync(path) && (await isIt(path, pinned))) return path;
    throw failed(
      existsSync(path)
        ? `'${copyOfIt}' has not the size and SHA-256 that the recipe pins for '${url}'`
        : `'${copyOfIt}' is not there; it is wanted as a copy of '${url}'`,
    );
  }
  const copy = copyIn(archives, url, world);
  if (copy !== undefined) {
    if (await isIt(copy, pinned)) return copy;
    throw failed(
      `'${join(archives!, archiveName(url))}' has not the size and SHA-256 that the recipe pins for '${url}'`,
    );
  }
  const path = join(cacheOf(world.env), ARCHIVES, pinned.sha256);
  if (existsSync(path) && (await isIt(path, pinned))) {
    markUsed(path);
    return path;
  }
  say(`downloading ${url} (${(size / 1e6).toFixed(1)} MB)`);
  mkdirSync(dirname(path), { recursive: true });
  await download(url, world, async (opened) => {
    const { response } = opened;
    if (!response.ok || !response.body) throw failed(`'${url}' answered ${response.status}`);
    await streamAtomically(path, pinnedBytes(opened, pinned));
  });
  return path;
};

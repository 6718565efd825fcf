/** Archives by address, size and digest: from a copy that is here, else from the cache, else from the network; never without its digest. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PinnedArchive } from '../../schemas/recipe.ts';
import { cause, failed, Failure } from '../../shared/failure.ts';
import { sha256File, streamAtomically } from '../../shared/files.ts';
import type { World } from '../../shared/world.ts';
import { cacheOf } from './cache.ts';

/** The last part of an address: what a copy of it is called. */
export const archiveName = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');

const isIt = async (path: string, { size, sha256 }: PinnedArchive): Promise<boolean> =>
  statSync(path).size === size && (await sha256File(path)) === sha256;

/** Bytes of a response, as many as were pinned. */
async function* bytesOf(response: Response, { url, size }: PinnedArchive): AsyncGenerator<Uint8Array> {
  let got = 0;
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    got += part.length;
    if (got > size) throw failed(`'${url}' is longer than the ${size} bytes that are pinned`);
    yield part;
  }
}

/** A file that has the pinned size and digest. `copyOfIt` names the only place that it may come from. */
export const archiveFile = async (
  pinned: PinnedArchive,
  { world, archives }: { world: World; archives?: string },
  say: (text: string) => void,
  copyOfIt?: string,
): Promise<string> => {
  const name = archiveName(pinned.url);
  if (copyOfIt !== undefined) {
    const copy = resolve(world.cwd, copyOfIt);
    if (existsSync(copy) && (await isIt(copy, pinned))) return copy;
    throw failed(
      `'${copyOfIt}' ${existsSync(copy) ? 'has not the size and SHA-256 that the recipe pins' : 'is not there: the copy that is wanted'} for '${pinned.url}'`,
    );
  }
  if (archives !== undefined) {
    const copy = join(resolve(world.cwd, archives), name);
    if (existsSync(copy)) {
      if (await isIt(copy, pinned)) return copy;
      throw failed(
        `'${join(archives, name)}' has not the size and SHA-256 that the recipe pins for '${pinned.url}'`,
      );
    }
  }
  const path = join(cacheOf(world.env), 'archives', pinned.sha256);
  if (existsSync(path) && (await isIt(path, pinned))) return path;
  say(`downloading ${pinned.url} (${(pinned.size / 1e6).toFixed(1)} MB)`);
  mkdirSync(dirname(path), { recursive: true });
  try {
    const response = await fetch(pinned.url, {
      signal: world.interrupted,
      headers: { 'accept-encoding': 'identity' },
    });
    if (!response.ok || !response.body) throw failed(`'${pinned.url}' answered ${response.status}`);
    if (!response.url.startsWith('https:'))
      throw failed(`'${pinned.url}' leads to '${response.url}', which is not https`);
    await streamAtomically(path, bytesOf(response, pinned));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw failed(
      `can't download '${pinned.url}': ${cause(error)}; '--archives DIR' takes a copy named '${name}'`,
    );
  }
  if (!(await isIt(path, pinned)))
    throw failed(
      `'${pinned.url}' has ${statSync(path).size} bytes and SHA-256 ${await sha256File(path)}; pinned are ${pinned.size} and ${pinned.sha256}`,
    );
  return path;
};

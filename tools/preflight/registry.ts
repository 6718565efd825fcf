/** Asks an image's registry for it, as a node would: whether it is there, for whom, and for which architectures. */
import { EXIT } from '../../shared/exit.ts';
import { cause, Failure } from '../../shared/failure.ts';
import { type Credentials, credentialsOf, NotGiven } from '../../shared/registry/access.ts';
import { type Registry, registryClient } from '../../shared/registry/client.ts';
import { imageConfig } from '../../shared/registry/image-config.ts';
import { architecturesOf, INDEXES, type Manifest } from '../../shared/registry/manifest.ts';
import { formatReference, type ImageReference, parseReference } from '../../shared/registry/reference.ts';
import type { World } from '../../shared/world.ts';

export type Pull =
  /** `arches` for Linux; undefined: it does not say. `login`: not for strangers, but with this user's credentials. */
  | { is: 'there'; arches?: readonly string[]; login: boolean }
  | { is: 'missing' }
  /** With an HTTP status: it wants a login, or another one than this user's. */
  | { is: 'refused'; status: number }
  | { is: 'unknown'; why: string };

/** All that the registry may take, ms. */
export const REGISTRY_MS = 5000;

const REFUSED = new Set([401, 403]);
const MISSING = 404;
const nobody: Credentials = () => undefined;

const archesOf = async (
  registry: Registry,
  at: ImageReference,
  found: Manifest,
): Promise<readonly string[] | undefined> => {
  if (INDEXES.includes(found.mediaType)) return architecturesOf(found);
  const { os = 'linux', architecture } = await imageConfig(registry, at, found, formatReference(at));
  if (os !== 'linux') return [];
  return architecture === undefined ? undefined : [architecture];
};

const askAs = async (
  credentials: Credentials,
  at: ImageReference,
  interrupted: AbortSignal,
): Promise<Omit<Pull & { is: 'there' }, 'login'>> => {
  const registry = registryClient({ interrupted, credentials, tries: 1 });
  const found = await registry.manifest(at);
  // That it is there is known; an image that says nothing of itself, or not in time, is still there.
  const arches = await archesOf(registry, at, found).catch(() => undefined);
  return { is: 'there', ...(arches ? { arches } : {}) };
};

/** What this user would log in with; a file that can't be read is none. */
const keptFor = ({ registry }: ImageReference, env: World['env']): string | undefined => {
  try {
    return credentialsOf(env)(registry);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
};

/** What an answer that is none says. */
const pullOf = (error: unknown): Pull => {
  if (!(error instanceof NotGiven)) return { is: 'unknown', why: cause(error) };
  if (error.status === MISSING) return { is: 'missing' };
  return error.status !== undefined && REFUSED.has(error.status)
    ? { is: 'refused', status: error.status }
    : { is: 'unknown', why: error.said };
};

/**
 * Asks once as a stranger; where that is refused, and `docker login` kept credentials for the registry, once with them. All of
 * it ends after `ms`, and at once when it is interrupted, which is an error; everything else is an answer.
 */
export const askRegistry = async (
  image: string,
  { env, interrupted }: Pick<World, 'env' | 'interrupted'>,
  ms = REGISTRY_MS,
): Promise<Pull> => {
  const at = parseReference(image);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  const signal = AbortSignal.any([interrupted, limit.signal]);
  const answered = async (credentials: Credentials, login: boolean): Promise<Pull> => {
    try {
      const pull = { ...(await askAs(credentials, at, signal)), login };
      if (!interrupted.aborted) return pull;
    } catch (error) {
      if (!interrupted.aborted)
        return limit.signal.aborted
          ? { is: 'unknown', why: `'${at.registry}' gave no answer in ${ms / 1000} s` }
          : pullOf(error);
    }
    throw new Failure(EXIT.interrupted, 'interrupted');
  };
  try {
    const open = await answered(nobody, false);
    if (open.is === 'there' || open.is === 'unknown') return open;
    const kept = keptFor(at, env);
    return kept === undefined ? open : await answered(() => kept, true);
  } finally {
    clearTimeout(timer);
  }
};

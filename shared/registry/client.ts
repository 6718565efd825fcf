/** Reads images from registries (OCI distribution specification 1.1, Docker registry API 2): by tag or digest, every byte checked. */
import { cause, failed, Failure } from '../failure.ts';
import { sha256 } from '../files.ts';
import { EXIT } from '../exit.ts';
import { answer, type Credentials, isHere, NotGiven, parseChallenge } from './access.ts';
import { type Descriptor, INDEXES, type Manifest, MANIFESTS, manifestValue } from './manifest.ts';
import { Silence, SILENCE_MS } from '../silence.ts';
import { DIGEST, formatReference, type ImageReference } from './reference.ts';

export interface Registry {
  /** What a name stands for now: an index or a manifest; its bytes have its digest. */
  manifest(reference: ImageReference): Promise<Manifest>;
  /** A blob's bytes, as they come; an error at the end when they are not those of the digest. */
  blob(reference: ImageReference, blob: Descriptor): AsyncGenerator<Uint8Array>;
}

export interface RegistryOptions {
  interrupted: AbortSignal;
  credentials: Credentials;
  /** Registry → addresses that are asked instead, in turn, before it: `docker.io` → `https://mirror.example`. */
  mirrors?: Readonly<Record<string, readonly string[]>>;
  /** How often a busy or unreachable server is asked; without it, as often as patience goes. */
  tries?: number;
  /** For tests. */
  silence_ms?: number;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The largest manifest that registries have to take (distribution specification). */
const LARGEST_MANIFEST = 4 << 20;
const TRIES = 4;
const REDIRECTS = 5;

/** Addresses of a registry, mirrors first. */
const addressesOf = (registry: string, { mirrors }: RegistryOptions): string[] => [
  ...(mirrors?.[registry] ?? []).map((one) => one.replace(/\/+$/, '')),
  registry === 'docker.io'
    ? 'https://registry-1.docker.io'
    : `${isHere(registry) ? 'http' : 'https'}://${registry}`,
];

/** Seconds that a busy server asks for, else some that grow. */
const pause = (response: Response | undefined, at: number): number => {
  const asked = /^\d{1,3}$/.exec(response?.headers.get('retry-after') ?? '')?.[0];
  return asked === undefined ? 0.5 * 2 ** at : Math.min(Number(asked), 60);
};

/** A pause that ends when it is interrupted. */
const pauseFor = (ms: number, interrupted: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    interrupted.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });

export const registryClient = (options: RegistryOptions): Registry => {
  const { interrupted, credentials, tries = TRIES } = options;
  const ask = options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init));
  /** By address and repository: what was let in once is let in again. */
  const tokens = new Map<string, string>();
  /** Who watches over an answer's bytes. */
  const watches = new WeakMap<Response, Silence>();
  const partsOf = (response: Response): AsyncGenerator<Uint8Array> => watches.get(response)!.parts(response);

  /** One request; redirects lead elsewhere without the token, which is the registry's own. */
  const once = async (url: string, headers: Record<string, string>): Promise<Response> => {
    const silence = new Silence(interrupted, options.silence_ms ?? SILENCE_MS);
    try {
      for (let at = 0, to = url, sent = headers; ; at++) {
        const response = await ask(to, {
          headers: sent,
          redirect: 'manual',
          signal: silence.signal,
        });
        watches.set(response, silence);
        const next = response.headers.get('location');
        if (response.status < 300 || response.status >= 400 || next === null) return response;
        if (at >= REDIRECTS) throw failed(`'${url}' leads from one address to the next`);
        const there = new URL(next, to);
        if (there.protocol !== 'https:' && !isHere(there.host))
          throw failed(`'${url}' leads to '${there.protocol}//${there.host}', which is not https`);
        if (there.host !== new URL(to).host)
          sent = Object.fromEntries(Object.entries(sent).filter(([name]) => name !== 'authorization'));
        to = there.href;
      }
    } finally {
      silence.end();
    }
  };

  /** As often as a busy or unreachable server may be asked. */
  const patiently = async (url: string, headers: Record<string, string>): Promise<Response> => {
    for (let at = 0; ; at++) {
      if (interrupted.aborted) throw new Failure(EXIT.interrupted, 'interrupted');
      let response: Response | undefined;
      try {
        response = await once(url, headers);
        if ((response.status !== 429 && response.status < 500) || at + 1 >= tries) return response;
      } catch (error) {
        if (interrupted.aborted) throw new Failure(EXIT.interrupted, 'interrupted');
        if (error instanceof Failure || at + 1 >= tries) throw error;
      }
      await response?.body?.cancel();
      await pauseFor(pause(response, at) * 1000, interrupted);
    }
  };

  /** The same, its answer read already: what gives tokens says little. */
  const small = async (url: string, headers: Record<string, string>): Promise<Response> => {
    const response = await patiently(url, headers);
    const bytes = response.body ? await bounded(partsOf(response), `the answer of '${url}'`) : null;
    return new Response(bytes, { status: response.status, headers: response.headers });
  };

  /** One path of a repository, let in when the registry asks who it is. */
  const inside = async (
    address: string,
    reference: ImageReference,
    path: string,
    accept: string,
  ): Promise<Response> => {
    const { registry, repository } = reference;
    const key = `${address} ${repository}`;
    const url = `${address}/v2/${repository}/${path}`;
    const headers = (): Record<string, string> => ({
      accept,
      'accept-encoding': 'identity',
      ...(tokens.has(key) ? { authorization: tokens.get(key)! } : {}),
    });
    const first = await patiently(url, headers());
    const challenge =
      first.status === 401 ? parseChallenge(first.headers.get('www-authenticate') ?? '') : undefined;
    if (!challenge) return first;
    await first.body?.cancel();
    // A mirror is somebody else: it gets no credentials of the registry.
    const own = new URL(address).host;
    const known = credentials(own === 'registry-1.docker.io' ? 'docker.io' : own);
    const scope = `repository:${repository}:pull`;
    const token = await answer(challenge, { registry, scope, credentials: known }, small);
    if (token === undefined) return first;
    tokens.set(key, token);
    return patiently(url, headers());
  };

  /** The first address that has it; what each of the others said, when none has. */
  const fromAny = async (reference: ImageReference, path: string, accept: string): Promise<Response> => {
    const said: string[] = [];
    let status: number | undefined;
    for (const address of addressesOf(reference.registry, options))
      try {
        const response = await inside(address, reference, path, accept);
        if (response.ok && response.body) return response;
        await response.body?.cancel();
        status = response.status;
        said.push(`'${address}' answered ${response.status}${WORDS[response.status] ?? ''}`);
      } catch (error) {
        if (error instanceof Failure && error.exit === EXIT.interrupted) throw error;
        status = error instanceof NotGiven ? error.status : undefined;
        said.push(
          error instanceof Failure ? error.message : `'${address}' can't be reached: ${cause(error)}`,
        );
      }
    throw new NotGiven(`image '${formatReference(reference)}'`, said, status);
  };

  return {
    async manifest(reference) {
      const shown = formatReference(reference);
      const path = `manifests/${reference.digest ?? reference.tag ?? 'latest'}`;
      const response = await fromAny(reference, path, [...INDEXES, ...MANIFESTS].join(', '));
      const bytes = await bounded(partsOf(response), `image '${shown}': its manifest`);
      const digest = `sha256:${sha256(bytes)}`;
      const said = response.headers.get('docker-content-digest');
      const wanted = reference.digest ?? (said !== null && DIGEST.test(said) ? said : digest);
      if (wanted !== digest)
        throw failed(`image '${shown}': what came has the digest ${digest}, not ${wanted}`);
      const value = manifestValue(bytes, shown);
      const mediaType =
        typeof value['mediaType'] === 'string'
          ? value['mediaType']
          : (response.headers.get('content-type') ?? '').split(';')[0]!;
      return { digest, mediaType, bytes, value };
    },
    async *blob(reference, { digest, size, mediaType }) {
      const shown = formatReference(reference);
      if (!DIGEST.test(digest))
        throw failed(`image '${shown}': a blob has the digest '${digest}', which is no SHA-256`);
      const response = await fromAny(reference, `blobs/${digest}`, mediaType);
      const hash = new Bun.CryptoHasher('sha256');
      let got = 0;
      for await (const part of partsOf(response)) {
        got += part.length;
        if (got > size) throw failed(`image '${shown}': blob ${digest} is longer than its ${size} bytes`);
        hash.update(part);
        yield part;
      }
      if (got !== size || `sha256:${hash.digest('hex')}` !== digest)
        throw failed(`image '${shown}': blob ${digest} arrived as ${got} of ${size} bytes, or as others`);
    },
  };
};

const WORDS: Readonly<Record<number, string>> = {
  401: ' (it wants a login: docker login, or skopeo login)',
  403: ' (not allowed)',
  404: ' (there is no such image)',
  429: ' (too many requests)',
};

const bounded = async (given: AsyncIterable<Uint8Array>, what: string): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of given) {
    size += part.length;
    if (size > LARGEST_MANIFEST) throw failed(`${what} is larger than ${LARGEST_MANIFEST} bytes`);
    parts.push(part.slice());
  }
  return Buffer.concat(parts);
};

/** Lists in pages, and lists that are kept up to date. */
import { type About, ApiError, apiError, ConnectionError, connectionError, isStatus } from './api-error.ts';
import { type KubernetesObject, pathOf, type Resource, type Scope } from './objects.ts';
import { type Endpoint, send, sendForMeasuredJson, stopped, whoOf } from './transport.ts';

interface List<T> {
  metadata: { resourceVersion?: string; continue?: string };
  items: T[] | null;
}

/** Objects of a page: at first, when nothing is known of their size; at least; at most, as kubectl asks for them. */
const [FIRST, LEAST, MOST] = [100, 10, 500];
/** JSON of a page that is aimed at, bytes: while it is read it is in memory several times, as bytes, text and objects. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** Fresh starts of a list whose continuation expired under it. */
const RESTARTS = 3;

const about = (verb: string, resource: Resource, scope: Scope): About => ({
  verb,
  resource,
  ...(scope.namespace === undefined ? {} : { namespace: scope.namespace }),
});

/** One page of a list. */
const page = <T>(
  endpoint: Endpoint,
  resource: Resource,
  scope: Scope,
  limit: number,
  after: string,
): Promise<{ value: List<T>; bytes: number }> => {
  const { namespace, labelSelector, fieldSelector } = scope;
  return sendForMeasuredJson<List<T>>(endpoint, {
    about: about('list', resource, scope),
    path: pathOf(resource, namespace === undefined ? {} : { namespace }, {
      labelSelector,
      fieldSelector,
      limit,
      continue: after,
    }),
  });
};

/** Objects that the next page should hold when `count` of them took `bytes`. */
const limitAfter = (count: number, bytes: number, most: number): number =>
  Math.min(Math.max(Math.floor((PAGE_BYTES * count) / bytes), LEAST), most);

/**
 * All objects of a scope, page by page: `fresh` starts a list, `take` gets each page, of at most `most` objects, and of
 * fewer when they are large, so that a list of any length fits into little memory. A continuation that expired (410)
 * starts the list again, so what `take` gathered since `fresh` must be dropped then. Gives the list's resourceVersion.
 */
export const listPages = async <T>(
  endpoint: Endpoint,
  resource: Resource,
  scope: Scope,
  fresh: () => void,
  take: (items: T[]) => void,
  most = MOST,
): Promise<string> => {
  for (let restarts = 0; ; restarts++)
    try {
      fresh();
      let coming = page<T>(endpoint, resource, scope, Math.min(FIRST, most), '');
      for (;;) {
        const { value, bytes } = await coming;
        const after = value.metadata.continue ?? '';
        const items = value.items ?? [];
        if (after !== '') {
          // The server makes the next one while this one is taken; what goes wrong with it is told when it is awaited.
          coming = page<T>(endpoint, resource, scope, limitAfter(items.length, bytes, most), after);
          coming.catch(() => undefined);
        }
        take(items);
        if (after === '') return value.metadata.resourceVersion ?? '';
      }
    } catch (error) {
      if (!isStatus(error, 410) || restarts >= RESTARTS) throw error;
    }
};

/** What a watch tells: an object as it is now, one that is gone, or that everything known has been told once. */
export type WatchEvent<T> =
  | { type: 'is'; object: T }
  | { type: 'gone'; object: T }
  | { type: 'complete' }
  /** The server is away or refuses for now; the watch goes on by itself. */
  | { type: 'trouble'; error: Error };

export interface WatchTimes {
  /** The server ends the watch by itself after so many s. */
  server_s: number;
  /** Ours, when it did not, ms after that. */
  grace_ms: number;
  /** Pause after trouble, ms: doubled each time up to the second number. */
  pause_ms: [number, number];
}

const TIMES: WatchTimes = { server_s: 240, grace_ms: 20_000, pause_ms: [500, 10_000] };
/** How long what was allowed before may be refused, ms. */
const REFUSED_MS = 30_000;

/** Lines of a body, as they arrive. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of body) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') yield rest;
}

/**
 * Follows the objects of a scope until `signal` stops it: lists, watches, and lists again when the watch's place has
 * expired. An object that vanished between two lists is told as gone. Trouble that may pass is told and waited out; the
 * caller decides how long. What can't pass (404, a certificate; 401 and 403
 * from the beginning, or for half a minute) is thrown.
 */
export async function* watch<T extends KubernetesObject>(
  endpoint: Endpoint,
  resource: Resource,
  scope: Scope,
  signal: AbortSignal,
  times: WatchTimes = TIMES,
): AsyncGenerator<WatchEvent<T>> {
  const known = new Map<string, T>();
  let version = '';
  let pause = times.pause_ms[0];
  let wasLetIn = false;
  let refusedSince: number | undefined;
  const { namespace, labelSelector, fieldSelector } = scope;
  while (!signal.aborted)
    try {
      if (version === '') {
        const seen: T[] = [];
        version = await listPages<T>(
          endpoint,
          resource,
          scope,
          () => seen.splice(0),
          (items) => seen.push(...items),
        );
        const uids = new Set(seen.map((one) => one.metadata.uid));
        for (const [uid, object] of known)
          if (!uids.has(uid)) {
            known.delete(uid);
            yield { type: 'gone', object };
          }
        for (const object of seen) {
          const before = known.get(object.metadata.uid);
          known.set(object.metadata.uid, object);
          if (before?.metadata.resourceVersion !== object.metadata.resourceVersion)
            yield { type: 'is', object };
        }
        yield { type: 'complete' };
      }
      const limit = AbortSignal.timeout(times.server_s * 1000 + times.grace_ms);
      const request = {
        about: about('watch', resource, scope),
        path: pathOf(resource, namespace === undefined ? {} : { namespace }, {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: version,
          timeoutSeconds: times.server_s,
          labelSelector,
          fieldSelector,
        }),
        deadline: 0,
        signal: AbortSignal.any([signal, limit]),
      };
      const began = performance.now();
      try {
        const { body } = await send(endpoint, request);
        wasLetIn = true;
        refusedSince = undefined;
        for await (const line of linesOf(body!)) {
          const { type, object } = JSON.parse(line) as {
            type: string;
            object: T & { code?: number; reason?: string; message?: string };
          };
          if (type === 'ERROR') {
            version = '';
            // The place is too old to go on from.
            if (object.code === 410) break;
            throw apiError(request.about, object.code ?? 500, object, whoOf(endpoint));
          }
          pause = times.pause_ms[0];
          version = object.metadata.resourceVersion;
          if (type === 'BOOKMARK') continue;
          if (type === 'DELETED') known.delete(object.metadata.uid);
          else known.set(object.metadata.uid, object);
          yield { type: type === 'DELETED' ? 'gone' : 'is', object };
        }
        // Whoever ends every watch at once must not be asked without a pause.
        if (performance.now() - began < 1000) await endpoint.sleep(times.pause_ms[0], signal);
      } catch (error) {
        if (signal.aborted || endpoint.signal.aborted) return;
        if (limit.aborted) continue;
        if (isStatus(error, 410)) version = '';
        else if (error instanceof ApiError || error instanceof ConnectionError) throw error;
        else throw connectionError(error, { server: endpoint.base, proxy: endpoint.proxy });
      }
    } catch (error) {
      if (stopped(endpoint, { signal })) return;
      // A server that has just started refuses everybody until it has read who may what.
      const refused = wasLetIn && error instanceof ApiError && [401, 403].includes(error.code);
      if (refused) refusedSince ??= performance.now();
      const passing =
        error instanceof ApiError
          ? error.code === 429 ||
            error.code >= 500 ||
            (refused && performance.now() - refusedSince! < REFUSED_MS)
          : error instanceof ConnectionError && !error.final;
      if (!passing) throw error;
      yield { type: 'trouble', error: error as Error };
      await endpoint.sleep(pause, signal).catch(() => undefined);
      pause = Math.min(pause * 2, times.pause_ms[1]);
    }
}

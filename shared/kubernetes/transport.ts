/** Requests to one API server: credentials, verification, proxy, deadlines and repeats, the same for every kind of request. */
import { EXIT } from '../exit.ts';
import { Failure } from '../failure.ts';
import { type About, apiError, ApiError, ConnectionError, connectionError } from './api-error.ts';
import type { CredentialSource } from './credentials.ts';
import type { Access } from './kubeconfig.ts';

/** What Bun's fetch and WebSocket both take. */
export interface TlsOptions {
  ca?: string | string[];
  cert?: string;
  key?: string;
  serverName?: string;
  rejectUnauthorized: boolean;
}

/** How one API server is reached: resolved once by `connect`. */
export interface Endpoint {
  readonly access: Access;
  /** Without a slash at the end; may have a path. */
  readonly base: string;
  readonly proxy: string | false;
  readonly authorities: string[] | undefined;
  readonly source: CredentialSource;
  /** Ends everything: the first ^C. */
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Request {
  about: About;
  /** From the server's root, with query. */
  path: string;
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  body?: string;
  contentType?: string;
  /** For the whole exchange, answer included, ms; 0: none, the caller's signal ends it. */
  deadline?: number;
  signal?: AbortSignal;
}

/** Most answers come at once; a list of thousands takes seconds. */
const DEADLINE = 60_000;
/** Tries of a request that may be repeated; more of them when the server asks for patience. */
const TRIES = 4;
const TRIES_WHEN_BUSY = 8;
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 10_000;

/** Verification options of an endpoint, with a client certificate when there is one. */
export const tlsOf = (
  endpoint: Endpoint,
  certificate: { cert: string; key: string } | undefined,
): TlsOptions => ({
  ...(endpoint.authorities ? { ca: endpoint.authorities } : {}),
  ...certificate,
  ...(endpoint.access.serverName ? { serverName: endpoint.access.serverName } : {}),
  // Always said: an environment variable of the runtime would switch verification off otherwise.
  rejectUnauthorized: !endpoint.access.insecure,
});

const once = async (endpoint: Endpoint, request: Request): Promise<Response> => {
  const { headers, certificate } = await endpoint.source.current();
  const limit = request.deadline ?? DEADLINE;
  const signals = [endpoint.signal, request.signal, limit > 0 ? AbortSignal.timeout(limit) : undefined];
  // Bun's own time limit would end a quiet watch after minutes, hence `timeout: false`; ours is in the signal.
  const options = {
    method: request.method ?? 'GET',
    headers: {
      Accept: 'application/json',
      'User-Agent': 'k8sbench',
      ...(request.body === undefined ? {} : { 'Content-Type': request.contentType ?? 'application/json' }),
      ...headers,
    },
    ...(request.body === undefined ? {} : { body: request.body }),
    redirect: 'error',
    signal: AbortSignal.any(signals.filter((one) => one !== undefined)),
    timeout: false,
    proxy: endpoint.proxy,
    ...(endpoint.base.startsWith('https:') ? { tls: tlsOf(endpoint, certificate) } : {}),
  };
  let response: Response;
  try {
    response = await fetch(endpoint.base + request.path, options as RequestInit);
  } catch (error) {
    throw (
      stopped(endpoint, request) ??
      connectionError(error, { server: endpoint.base, proxy: endpoint.proxy }, limit)
    );
  }
  if (response.ok) return response;
  throw await refusal(endpoint, request.about, response);
};

/** The stop that ended a request: the first ^C, in words; the caller's own, as the AbortError that it made. */
export const stopped = (endpoint: Endpoint, request: { signal?: AbortSignal }): Error | undefined => {
  if (endpoint.signal.aborted) return new Failure(EXIT.interrupted, 'interrupted');
  return request.signal?.aborted ? new DOMException('stopped', 'AbortError') : undefined;
};

/** Who asks whom, for messages. */
export const whoOf = ({ access, base }: Endpoint): { user: string; context: string; server: string } => ({
  user: access.user.name,
  context: access.context,
  server: base,
});

/** An answer that says no. */
const refusal = async (endpoint: Endpoint, about: About, response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '');
  let status: Record<string, unknown> = {};
  try {
    status = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // A proxy or a load balancer answered: its page says little, its status counts.
    status = {
      message: `${response.status} ${text
        .replace(/(?:<[^<>]*>|\s)+/g, ' ')
        .trim()
        .slice(0, 200)}`.trim(),
    };
  }
  const header = response.headers.get('retry-after');
  const wait = header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
  return apiError(about, response.status, status, whoOf(endpoint), wait);
};

/** Whether a failed request may be sent again: busy and broken servers for reading, busy ones and refused connections for all. */
const worthAnother = (error: unknown, method: string): boolean => {
  if (error instanceof ApiError)
    return error.code === 429 || (method === 'GET' && [500, 502, 503, 504].includes(error.code));
  return error instanceof ConnectionError && !error.final && (method === 'GET' || !error.sent);
};

/**
 * Sends a request and gives the answer, whose body the caller reads. Repeats what may be repeated, with growing pauses or
 * the server's Retry-After, and once with new credentials after 401. Throws {@link ApiError}, {@link ConnectionError}, or
 * what {@link stopped} gives.
 */
export const send = async (endpoint: Endpoint, request: Request): Promise<Response> => {
  let renewed = false;
  for (let tries = 1; ; tries++)
    try {
      return await once(endpoint, request);
    } catch (error) {
      if (error instanceof ApiError && error.code === 401 && !renewed && endpoint.source.refused()) {
        renewed = true;
        continue;
      }
      const most = error instanceof ApiError && error.code === 429 ? TRIES_WHEN_BUSY : TRIES;
      if (tries >= most || !worthAnother(error, request.method ?? 'GET')) throw error;
      const pause = Math.min(
        (error instanceof ApiError ? error.retryAfter : undefined) ?? FIRST_PAUSE * 2 ** (tries - 1),
        LONGEST_PAUSE,
      );
      const stop = AbortSignal.any([endpoint.signal, ...(request.signal ? [request.signal] : [])]);
      await endpoint.sleep(pause, stop).catch((cut: unknown) => {
        throw stopped(endpoint, request) ?? cut;
      });
    }
};

/**
 * The answer's JSON, and how long it was, bytes, compression undone. A body that breaks off counts as a broken connection.
 */
export const sendForMeasuredJson = async <T>(
  endpoint: Endpoint,
  request: Request,
): Promise<{ value: T; bytes: number }> => {
  for (let tries = 1; ; tries++) {
    const response = await send(endpoint, request);
    try {
      // Not its text: that would stay until the next garbage collection, and large lists have many pages.
      const body = await response.blob();
      return { value: (await body.json()) as T, bytes: body.size };
    } catch (error) {
      const broken =
        stopped(endpoint, request) ??
        connectionError(error, { server: endpoint.base, proxy: endpoint.proxy });
      if (tries >= TRIES || !worthAnother(broken, request.method ?? 'GET')) throw broken;
    }
  }
};

/** The same without its length. */
export const sendForJson = async <T>(endpoint: Endpoint, request: Request): Promise<T> =>
  (await sendForMeasuredJson<T>(endpoint, request)).value;

/** A container's log, as bytes. */
import { ApiError, connectionError, isStatus } from './api-error.ts';
import { pathOf } from './objects.ts';
import { type Endpoint, send, stopped } from './transport.ts';

export interface LogOf {
  namespace: string;
  pod: string;
  container: string;
  /** Go on as more is written, until the container ends. */
  follow?: boolean;
  /** Only the last so many lines; 0 is none of those that are there. */
  tailLines?: number;
  /** Only what was written in the last so many s. */
  sinceSeconds?: number;
  /** At most so many bytes. */
  limitBytes?: number;
}

/** The container has not started: the log is not there yet. Another state than a pod that is gone (404). */
export const isNotStarted = (error: unknown): error is ApiError =>
  isStatus(error, 400) &&
  /waiting to start|is waiting|not ready|ContainerCreating|PodInitializing/i.test(error.detail);

/**
 * The log from its start, or from where `of` says. It ends when the server ends it: when the container ended, but also
 * when the file was rotated or the kubelet restarted, so an end alone says nothing about completeness. Throws ApiError
 * (see {@link isNotStarted}), and ConnectionError when the connection broke. `signal` stops it, also a silent one.
 */
export async function* readLog(
  endpoint: Endpoint,
  of: LogOf,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { namespace, pod, container, follow, tailLines, sinceSeconds, limitBytes } = of;
  const response = await send(endpoint, {
    about: { verb: 'get', resource: 'pods/log', namespace, name: pod },
    path: pathOf(
      'pods',
      { namespace, name: pod, subresource: 'log' },
      { container, follow, tailLines, sinceSeconds, limitBytes },
    ),
    deadline: 0,
    signal,
  });
  try {
    for await (const part of response.body ?? []) yield part as Uint8Array;
  } catch (error) {
    throw (
      stopped(endpoint, { signal }) ??
      connectionError(error, { server: endpoint.base, proxy: endpoint.proxy })
    );
  }
}
